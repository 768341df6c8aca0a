! launches: 1
! A deferred binding of an object whose type is known is that type's.
module shapes
  implicit none
  type, abstract :: shape
  contains
    procedure(measure), deferred :: area
    procedure :: twice
  end type
  abstract interface
    pure integer function measure(self)
      import :: shape
      class(shape), intent(in) :: self
    end function
  end interface
  type, extends(shape) :: square
    integer :: side = 0
  contains
    procedure :: area => area_of_square
  end type
  type, extends(square) :: box
    integer :: height = 5
  contains
    procedure :: area => area_of_box
  end type
contains
  pure integer function twice(self)
    class(shape), intent(in) :: self
    twice = 2 * self%area()
  end function
  pure integer function area_of_square(self)
    class(square), intent(in) :: self
    area_of_square = self%side
  end function
  pure integer function area_of_box(self)
    class(box), intent(in) :: self
    area_of_box = self%height + 1000 * self%square%area()
  end function
end module
program deferred
  use shapes
  implicit none
  type(square) :: s(5)
  type(box) :: b(5)
  integer :: r(5), i
  do concurrent (i = 1:5)
    s(i)%side = i
    b(i)%side = i + 1
    b(i)%height = 3
    r(i) = s(i)%twice() + b(i)%twice() + b(i)%square%twice()
  end do
  if (any(r /= [(2 * i + 2 * (3 + 1000 * (i + 1)) + 2 * (i + 1), i = 1, 5)])) error stop 'another binding'
  print '(a)', 'ok'
end program
