! launches: 5
! The components of a scalar lead to what a loop writes: the scalar is not the iteration's own.
module grids
  implicit none
  type :: field
    real, allocatable :: v(:), w(:, :)
    integer, pointer :: p(:) => null()
    integer :: n = 0
  end type
  type :: grid
    type(field) :: inner
    integer :: id = 0
  end type
contains
  subroutine fill(f, n)
    type(field), intent(inout) :: f
    integer, intent(in) :: n
    integer :: i
    do concurrent (i = 1:n)
      f%v(i) = f%v(i) + i * f%n
      f%w(:, i) = [real(i), f%v(i)]
    end do
  end subroutine
  subroutine through(f, n)
    type(field), intent(in) :: f
    integer, intent(in) :: n
    integer :: i
    do concurrent (i = 1:n)
      f%p(i) = f%p(i) + i
    end do
  end subroutine
end module
program through_scalar
  use grids
  implicit none
  type(grid) :: g
  type(field) :: f
  integer, target :: x(5)
  integer :: i
  allocate (f%v(5), source=1.0)
  allocate (f%w(2, 5))
  allocate (g%inner%v(5))
  f%n = 3
  x = 10
  f%p => x
  call fill(f, 5)
  if (any(f%v /= [(1.0 + 3 * i, i = 1, 5)]) .or. any(f%w(2, :) /= f%v) .or. any(f%w(1, :) /= [1, 2, 3, 4, 5])) &
    error stop 'allocatable components of a dummy'
  call through(f, 5)
  if (any(x /= [11, 12, 13, 14, 15])) error stop 'the target of an intent(in) pointer component'
  do concurrent (i = 1:5)
    g%inner%v(i) = f%v(i)
    f%p(i) = -i
  end do
  if (any(g%inner%v /= f%v) .or. any(x /= [-1, -2, -3, -4, -5])) error stop 'nested'
  do concurrent (i = 1:1)
    f%v = 7
  end do
  if (any(f%v /= 7)) error stop 'a whole component'
  do concurrent (i = 1:5, x(i) < -2)
    f%v(6 - i) = x(i)
  end do
  if (any(f%v /= [-5, -4, -3, 7, 7])) error stop 'with a mask'
  if (f%n /= 3 .or. size(f%v) /= 5 .or. g%id /= 0) error stop 'the scalar itself'
  print '(a)', 'ok'
end program
