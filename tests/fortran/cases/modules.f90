! Modules, submodules, separate module procedures, access, renaming.
module shapes
   use, intrinsic :: iso_fortran_env, only: real64, out => output_unit
   use :: iso_c_binding
   implicit none
   private
   public :: shape, area, operator(.touches.), assignment(=), write(formatted)
   integer, parameter, public :: wp = real64
   real(wp), protected, save :: unit_length = 1.0_wp
   type, abstract :: shape
      private
      character(:), allocatable :: name
   contains
      procedure(area_of), deferred, pass(self) :: area
      procedure, non_overridable :: rename => set_name
      procedure, private :: show
      generic, public :: write(formatted) => show
   end type shape
   abstract interface
      pure function area_of(self) result(a)
         import :: shape, wp
         class(shape), intent(in) :: self
         real(wp) :: a
      end function area_of
   end interface
   interface operator(.touches.)
      module procedure touches
   end interface operator(.touches.)
   interface assignment(=)
      procedure :: assign_name
   end interface
   interface
      module subroutine describe(s, unit)
         class(shape), intent(in) :: s
         integer, intent(in), optional :: unit
      end subroutine
      module function doubled(x) result(y)
         real(wp), value :: x
         real(wp) :: y
      end function
   end interface
   interface area
      module procedure area_scalar, area_array
   end interface area
contains
   subroutine set_name(self, name)
      class(shape), intent(inout) :: self
      character(len=*), intent(in) :: name
      self%name = name
   end subroutine set_name
   subroutine show(dtv, unit, iotype, v_list, iostat, iomsg)
      class(shape), intent(in) :: dtv
      integer, intent(in) :: unit, v_list(:)
      character(*), intent(in) :: iotype
      integer, intent(out) :: iostat
      character(*), intent(inout) :: iomsg
      write (unit, '(dt"x"(1, 2), a)', iostat=iostat, iomsg=iomsg) dtv%name
   end subroutine show
   elemental logical function touches(a, b)
      class(shape), intent(in) :: a, b
      touches = len(a%name) == len(b%name)
   end function
   subroutine assign_name(a, b)
      class(shape), intent(inout) :: a
      character(*), intent(in) :: b
      a%name = b
   end subroutine
   pure recursive real(wp) function area_scalar(x) result(r)
      real(wp), intent(in) :: x
      r = merge(x, area_scalar(x - 1), x < 1)
   end function
   pure function area_array(x) result(r)
      real(wp), dimension(:, 2:), intent(in), contiguous :: x
      real(wp), dimension(size(x, 1), size(x, dim=2)) :: r
      r = x**2
   end function
end module shapes
submodule(shapes) details
   implicit none
   integer :: calls = 0
contains
   module procedure describe
      calls = calls + 1
      if (present(unit)) write (unit, *) s%name
   end procedure describe
   module function doubled(x) result(y)
      real(wp), value :: x
      real(wp) :: y
      y = 2*x
   end function doubled
end submodule details
submodule(shapes:details) more_details
end submodule more_details
block data initial
   common /numbers/ a, b(3), i
   real :: a, b
   data a, b/1.0, 3*2.5/, i/7/
end block data initial
program main
   use shapes, only: wp, surface => area
   print *, surface(1.0_wp)
end program main
