! launches: 5
! The same spelling for several things: what each of them means is decided where it stands.
pure integer function other(i) bind(c, name='bound_c')
  use iso_c_binding, only: c_int
  integer(c_int), value :: i
  other = i + 500
end function
pure integer function bound(i)
  integer, intent(in) :: i
  bound = i - 1
end function
module host
  implicit none
  integer, parameter :: n = 4
  interface
    pure module subroutine add(x, text)
      integer, intent(inout) :: x(n)
      character(n), intent(inout) :: text
    end subroutine
    pure integer function bound(i) bind(c, name='bound_c') ! by the binding, not by the name
      integer, value :: i
    end function
  end interface
  type :: shape
    integer, private :: hidden = 7
    integer :: seen = 1
  contains
    private
    procedure, public :: area
  end type
contains
  pure integer function area(self)
    class(shape), intent(in) :: self
    area = self%hidden + self%seen
  end function
end module
submodule (host) below
  implicit none
  integer, parameter :: n = 2 ! not that of the interface's bounds
contains
  module procedure add
    x = x + n
    text = 'abcdef'
  end procedure
end submodule
program names
  use host, only: add, bound, shape
  implicit none
  integer :: a(4, 6), r(6), i, n, k
  character(4) :: text(6)
  type(shape) :: s(6)
  n = 6
  k = 2
  a = 0
  do concurrent (i = 1:6)
    a(:, i) = i
    call add(a(:, i), text(i))
  end do
  if (any(a /= spread([3, 4, 5, 6, 7, 8], 1, 4)) .or. any(text /= 'abcd')) error stop 'bounds of the interface'
  do concurrent (i = 1:n) ! a local n before the function finds the program's
    block
      integer :: n, k
      n = i
      k = outer(i)
      r(i) = n + k
    end block
    r(i) = r(i) + n + k
  end do
  if (any(r /= [(i + i + 6 * 2 + 6 + 2, i = 1, 6)])) error stop 'variables of a block'
  do concurrent (i = 1:6)
    r(i) = bound(i)
  end do
  if (any(r /= [(i + 500, i = 1, 6)])) error stop 'a binding'
  do concurrent (i = 1:6)
    s(i)%seen = i
  end do
  do concurrent (i = 1:6)
    r(i) = s(i)%area()
  end do
  if (any(r /= [(i + 7, i = 1, 6)])) error stop 'a private component'
  print '(a)', 'ok'
contains
  pure integer function outer(i)
    integer, intent(in) :: i
    outer = i + n * k
  end function
end program
