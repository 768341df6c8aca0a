! What a loop reaches counts wherever it is; what is below a constant, and limits, do not.
! flags: --gpu=metal
! expect: 87:3: error: not yet implemented: a loop on Metal (--gpu=metal)
! expect: 42:16: error: real(8) ('work') cannot run on the device
! expect: 42:16: error: real(8) ('work') cannot run on the device
! expect: 53:16: error: error stop cannot run on the device
! expect: 58:16: error: real(8) ('inside') cannot run on the device
! expect: 64:18: error: real(8) cannot run on the device
! expect: 69:16: error: real(8) cannot run on the device
! expect: 73:22: error: real(8) cannot run on the device
! expect: 111:28: error: real(8) ('d') cannot run on the device
! expect: 115:17: error: real(8) ('table') cannot run on the device
! expect: 118:17: error: real(8) (the result of 'host') cannot run on the device
module reached
  implicit none
  interface either
    procedure :: with_local, with_real
  end interface
  type counter
    integer :: n
  contains
    procedure :: value => counted
  end type
  interface operator(.twice.)
    procedure :: twice
  end interface
  interface assignment(=)
    procedure :: from_real
  end interface
contains
  pure real function outer(a)
    real, intent(in) :: a
    outer = middle(a)
  end function
  pure real function middle(a)
    real, intent(in) :: a
    real(8), parameter :: third = 1/3d0
    middle = a*real(third) + with_local(int(a))
  end function
  pure real function with_local(a)
    integer, intent(in) :: a
    real(8) :: work
    work = a
    with_local = real(work)
  end function
  pure real function with_real(a)
    real, intent(in) :: a
    with_real = a + real(2d0)
  end function
  pure recursive real function stops(a) result(r)
    real, intent(in) :: a
    r = a
    if (a < 0) error stop 'negative'
    if (a > 1) r = stops(a - 1)
  end function
  pure real function counted(self)
    class(counter), intent(in) :: self
    real(8) :: inside
    inside = self%n
    counted = real(inside)
  end function
  pure real function twice(a)
    real, intent(in) :: a
    twice = real(2*real(a, 8))
  end function
  pure subroutine from_real(to, from)
    type(counter), intent(out) :: to
    real, intent(in) :: from
    to%n = int(from*1.5_8)
  end subroutine
  pure real function sized(n)
    integer, intent(in) :: n
    real :: work(int(n*2.5_8))
    work = 1
    sized = sum(work)
  end function
end module
program reach
  use reached, only: outer, either, stops, counter, operator(.twice.), assignment(=), other => sized
  implicit none
  integer, parameter :: n = int(1d1)
  real(8), parameter :: pi = 3.14159265358979323846d0, table(3) = [1d0, 2d0, 3d0]
  type(counter) :: c(10)
  real(8) :: d(10)
  real :: x(10)
  integer :: i
  do concurrent (i = int(d(1)):int(d(2)))
    x(i) = either(x(i)) + real(2*pi) + n + real(table(2))
  end do
  do concurrent (i = 1:10)
    x(i) = outer(x(i))
  end do
  do concurrent (i = 1:10)
    x(i) = either(i)
  end do
  do concurrent (i = 1:10)
    x(i) = stops(x(i))
  end do
  do concurrent (i = 1:10)
    x(i) = c(i)%value()
  end do
  do concurrent (i = 1:10)
    x(i) = .twice. x(i)
  end do
  do concurrent (i = 1:10)
    c(i) = x(i)
  end do
  do concurrent (i = 1:10)
    x(i) = other(i)
  end do
  do concurrent (i = 1:10, d(i) > 0)
    x(i) = 1
  end do
  do concurrent (i = 1:3)
    x(i) = real(table(i))
  end do
  do concurrent (i = 1:10)
    x(i) = real(host(i))
  end do
contains
  pure real(8) function host(k)
    integer, intent(in) :: k
    host = k
  end function
end program
