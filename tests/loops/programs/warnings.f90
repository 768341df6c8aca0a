! What is inserted gives no warnings of its own, and nothing of it is saved.
! flags: -Wall -Wextra -Werror -fno-automatic
module data
implicit none
real(8), private :: hid(10) = 3
integer, private :: factor = 2
logical, private :: flag = .true.
type tt
 real, allocatable :: v(:)
 logical :: ok
end type
contains
pure real(8) function ff(i)
integer, intent(in) :: i
ff = merge(hid(i)*factor, 0d0, flag)
end function
subroutine go(x, c, w, n)
integer, intent(in) :: n
real(8), intent(inout) :: x(:)
character(*), intent(inout) :: c(:)
type(tt), intent(inout) :: w(n)
integer :: i
real(8) :: s
s = 0
do concurrent (i = 1:n)
  x(i) = ff(i) + x(i)
  c(i) = 'q'//c(i)(1:1)
  w(i)%v(1) = real(x(i))
  w(i)%ok = x(i) > 5
  if (x(i) > 1e6) error stop 'too large'
end do
end subroutine
end module
program warnings
use data
implicit none
real(8) :: x(5) = 1
character(2) :: c(5) = 'ab'
type(tt) :: w(5)
integer :: i
do i = 1, 5
allocate(w(i)%v(2))
end do
call go(x, c, w, 5)
if (any(abs(x - 7) > 0) .or. any(c /= 'qa') .or. .not. all(w%ok) .or. abs(w(5)%v(1) - 7) > 0) error stop 1
print *, 'ok'
end program
