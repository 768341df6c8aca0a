! References of procedures that are not pure, however they are reached, and what gives an index a value.
! expect: 96:12: error: 'impure_one', which 'either' means, is not pure and cannot be called in a do concurrent loop
! expect: 97:12: error: 'bound_impure', which 'bound' means, is not pure and cannot be called in a do concurrent loop
! expect: 98:9: error: 'add_things' is not pure and cannot be called in a do concurrent loop
! expect: 98:5: error: 'assign_thing' is not pure and cannot be called in a do concurrent loop
! expect: 99:12: error: 'minus' is not pure and cannot be called in a do concurrent loop
! expect: 100:5: error: 'assign_thing' is not pure and cannot be called in a do concurrent loop
! expect: 101:5: error: 'old' is not pure and cannot be called in a do concurrent loop
! expect: 102:5: error: 'random_number' is not pure and cannot be called in a do concurrent loop
! expect: 103:12: error: 'pointed' is not pure and cannot be called in a do concurrent loop
! expect: 94:16: error: 'impure_one' is not pure and cannot be called in a do concurrent loop
! expect: 106:23: error: 'close_it', which is called here, is not pure and cannot be called in a do concurrent loop
! expect: 110:27: error: 'impure_one' is not pure and cannot be referred to in the mask of a do concurrent loop
! expect: 112:14: error: 'impure_one' is not pure and cannot be called in a do concurrent loop
! expect: 116:5: error: 'close_it', which is called here for what the variable had, is not pure and cannot be called in a do concurrent loop
! expect: 122:14: error: 'i' is an index of the do concurrent loop and cannot change
! expect: 123:17: error: 'i' is an index of the do concurrent loop and cannot change
! expect: 124:19: error: 'i' is an index of the do concurrent loop and cannot change
! expect: 125:35: error: 'i' is an index of the do concurrent loop and cannot change
! expect: 125:25: error: 'i' is an index of the do concurrent loop and cannot change
! expect: 127:7: error: 'k2' stands for 'i', which is an index of the do concurrent loop and cannot change
! expect: 129:8: error: 'i' is an index of the do concurrent loop and cannot change
! expect: 136:7: error: 'i' is an index of the do concurrent loop and cannot change
! expect: 138:17: error: what is polymorphic cannot be deallocated in a do concurrent loop
module things
  implicit none
  type thing
    integer :: n = 0
  contains
    procedure :: bound => bound_impure
    procedure, private :: add_things
    generic :: operator(+) => add_things
    procedure, private :: assign_thing
    generic :: assignment(=) => assign_thing
  end type
  type closed
    integer :: n = 0
  contains
    final :: close_it
  end type
  interface either
    procedure :: impure_one, pure_one
  end interface
  interface operator(.minus.)
    procedure :: minus
  end interface
contains
  integer function bound_impure(self)
    class(thing), intent(in) :: self
    bound_impure = self%n
  end function
  function add_things(a, b) result(c)
    class(thing), intent(in) :: a, b
    type(thing) :: c
    c%n = a%n + b%n
  end function
  impure elemental subroutine assign_thing(to, from)
    class(thing), intent(inout) :: to
    class(thing), intent(in) :: from
    to%n = from%n
  end subroutine
  impure elemental subroutine close_it(it)
    type(closed), intent(inout) :: it
    it%n = -1
  end subroutine
  integer function impure_one(x)
    real, intent(in) :: x
    impure_one = int(x)
  end function
  pure integer function pure_one(i)
    integer, intent(in) :: i
    pure_one = i
  end function
  integer function minus(a, b)
    logical, intent(in) :: a, b
    minus = merge(1, 0, a .and. b)
  end function
  pure subroutine set(i)
    integer, intent(out) :: i
    i = 1
  end subroutine
end module
program references
  use things
  implicit none
  type(thing) :: t(5), u
  type(closed) :: opened(5)
  class(thing), allocatable :: p
  integer :: i, j, a(5)
  real :: x(5)
  procedure(minus), pointer :: pointed
  external :: old
  integer :: formula, k
  formula(k) = impure_one(real(k))
  do concurrent (i = 1:5)
    a(i) = either(x(i)) + either(i)
    a(i) = t(i)%bound()
    u = t(i) + t(1)
    a(i) = (x(i) > 1) .minus. (x(i) < 2)
    t(i) = u
    call old(a(i))
    call random_number(x(i))
    a(i) = pointed(.true., .false.)
    a(i) = formula(i)
    block
      type(closed) :: c
      c%n = i
    end block
  end do
  do concurrent (i = 1:5, impure_one(x(i)) > 2)
    do concurrent (j = 1:5)
      a(j) = impure_one(x(j))
    end do
  end do
  do concurrent (i = 1:5)
    opened(i) = closed(i)
  end do
  do concurrent (i = impure_one(x(1)):impure_one(x(2)))
    a(i) = 1
  end do
  do concurrent (i = 1:5)
    call set(i)
    read (*, *) i
    open (newunit=i, file='none')
    write (*, *, iostat=i) (a(i), i = 1, 3)
    associate (k2 => i)
      k2 = 3
    end associate
    do i = 1, 3
    end do
    block
      integer :: i
      i = 3
    end block
    do concurrent (j = 1:5)
      i = j
    end do
    deallocate (p)
  end do
end program
