! launches: 2
! Optional arguments that are passed on to elemental procedures, absent and present.
module elements
  implicit none
contains
  elemental integer function sum_of(a, b, c)
    integer, intent(in) :: a
    integer, intent(in), optional :: b, c
    sum_of = a
    if (present(b)) sum_of = sum_of + 10 * b
    if (present(c)) sum_of = sum_of + 100 * c
  end function
  elemental subroutine change(x, y, z)
    integer, intent(inout) :: x
    integer, intent(in), optional :: y
    integer, intent(inout), optional :: z
    x = x + 1
    if (present(y)) x = x * y
    if (present(z)) z = z + x
  end subroutine
  pure subroutine pass_on(x, scalar, array, count)
    integer, intent(inout) :: x(:)
    integer, intent(in), optional :: scalar, array(:)
    integer, intent(inout), optional :: count(:)
    x = sum_of(x, c=scalar)
    x = sum_of(b=array, a=x)
    call change(x, scalar, count)
    call change(z=count, x=x, y=array)
  end subroutine
end module
program absent_elements
  use elements
  implicit none
  integer :: a(3, 8), b(3, 8), c(3, 8), d(3, 8), i
  a = reshape([(i, i = 1, 24)], [3, 8])
  b = a
  c = 0
  d = 0
  do concurrent (i = 1:8)
    if (mod(i, 4) == 0) call pass_on(a(:, i))
    if (mod(i, 4) == 1) call pass_on(a(:, i), i)
    if (mod(i, 4) == 2) call pass_on(a(:, i), i, [1, 2, 3])
    if (mod(i, 4) == 3) call pass_on(a(:, i), array=[3, 2, 1], count=c(:, i))
  end do
  do i = 1, 8
    if (mod(i, 4) == 0) call pass_on(b(:, i))
    if (mod(i, 4) == 1) call pass_on(b(:, i), i)
    if (mod(i, 4) == 2) call pass_on(b(:, i), i, [1, 2, 3])
    if (mod(i, 4) == 3) call pass_on(b(:, i), array=[3, 2, 1], count=d(:, i))
  end do
  if (any(a /= b) .or. any(c /= d)) error stop 'another result than in a do loop'
  do concurrent (i = 1:8)
    a(:, i) = sum_of(a(:, i), c=i)
  end do
  if (any(a /= b + 100 * spread([(i, i = 1, 8)], 1, 3))) error stop 'a scalar'
  print '(a)', 'ok'
end program
