! Derived types: parameters, extension, bindings, constructors, pointers, enumerations, procedure pointers.
module types
   use iso_c_binding
   implicit none
   type :: matrix(k, rows, cols)
      integer, kind :: k = kind(1.0)
      integer, len :: rows, cols = 2
      real(k), dimension(rows, cols) :: values
   end type matrix
   type, bind(c) :: pair
      integer(c_int) :: a = 1_c_int
      real(c_double) :: b(2) = [1.0, 2.0]
   end type
   type list
      sequence
      integer item
      type(list), pointer :: next => null()
   end type list
   type base
      integer, allocatable, private :: data(:, :)
      class(*), pointer :: any => null()
      procedure(callback), pointer, nopass :: hook => null()
      procedure(), pointer, nopass :: other
   contains
      private
      procedure, public :: get, set => set_base
      procedure, nopass :: make
      generic, public :: operator(+) => get
      final :: clean, clean_all
   end type base
   type, extends(base), public :: derived
      character(len=3), dimension(2) :: tags = ['abc', 'def']
   end type derived
   enum, bind(c)
      enumerator :: red = 1, green, blue = 7
      enumerator black
   end enum
   integer(kind(red)) :: colour = green
   abstract interface
      subroutine callback(x)
         import
         real(c_double) :: x
      end subroutine
   end interface
contains
   integer function get(self, other)
      class(base), intent(in) :: self
      integer, intent(in) :: other
      get = other + size(self%data)
   end function get
   subroutine set_base(self)
      class(base), intent(inout), target :: self
      type(derived) :: d
      type(matrix(4, rows=3, cols=:)), allocatable :: m
      type(pair) :: p
      allocate (matrix(4, rows=3, cols=5) :: m)
      p = pair(b=[3.0, 4.0], a=2)
      p%b(1) = p%b(2)*p%a
      if (allocated(self%data)) self%data(:, 1) = self%data(1, ::2)
      d%tags(1)(2:3) = 'xy'
      print *, m%k, m%rows
   end subroutine
   subroutine make()
   end subroutine
   subroutine clean(b)
      type(base), intent(inout) :: b
   end subroutine
   subroutine clean_all(b)
      type(base), intent(inout) :: b(:)
   end subroutine
end module types
