! Intrinsic procedures that are pure may be called in do concurrent.
program pure_intrinsics
  use, intrinsic :: ieee_arithmetic
  use, intrinsic :: ieee_exceptions
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: i, n(5)
  logical :: l(5)
  real :: x(5)
  real, target :: y(5)
  type(c_ptr) :: p(5)
  integer, allocatable :: a, b
  x = 1
  n = 0
  allocate (a, source=7)
  do concurrent (i = 1:5)
    l(i) = ieee_is_finite(x(i)) .and. .not. ieee_is_nan(x(i))
    x(i) = ieee_copy_sign(x(i), -1.0)
    p(i) = c_loc(y(i))
    l(i) = l(i) .and. c_associated(p(i))
    call mvbits(i, 0, 3, n(i), 1)
    n(i) = n(i) + popcnt(i) + command_argument_count()
    call ieee_set_flag(ieee_overflow, .false.)
  end do
  do concurrent (i = 1:1)
    call move_alloc(a, b)
  end do
  if (.not. all(l) .or. any(x /= -1) .or. any(n /= [3, 5, 8, 9, 12]) .or. b /= 7) error stop 1
  print *, 'ok'
end program
