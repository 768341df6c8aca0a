subroutine kernels(x, y, a, n, total)
  implicit none
  integer, intent(in) :: n
  real, intent(in) :: x(n), a
  real, intent(inout) :: y(:, :)
  integer, intent(inout) :: total
  integer :: i, j
  do concurrent (i = 1:n, j = 1:4, i /= j) reduce(+: total)
    if (y(i, j) < 0) cycle
    y(i, j) = a*x(i) + y(i, j)
    total = total + 1
  end do
end subroutine
