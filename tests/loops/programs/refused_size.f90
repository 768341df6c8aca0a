! How much of an array of assumed size a loop touches must be known before it runs.
! expect: 9:12: error: not yet implemented: 'x' in a loop on the device: its size is assumed
subroutine refused_size(n, x, k, y)
  integer, intent(in) :: n, k(n)
  real, intent(in) :: x(*)
  real, intent(inout) :: y(n)
  integer :: i
  do concurrent (i = 1:n)
    y(i) = x(k(i))
  end do
end subroutine
