! The types of a loop's header, default(none), and assignments that a program defines.
! expect: 46:18: error: 'r' is an index of the loop and must be an integer
! expect: 48:18: error: the indices of a do concurrent loop must be integers
! expect: 50:22: error: a limit of a do concurrent loop must be an integer, and this is real(4)
! expect: 50:37: error: the step of a do concurrent loop cannot be zero
! expect: 52:24: error: a limit of a do concurrent loop must be a scalar, and this has rank 1
! expect: 52:27: error: 'i' is an index of the loop twice
! expect: 54:27: error: the mask of a do concurrent loop must be logical, and this is integer(4)
! expect: 57:17: error: 'r' is in no locality clause, as default(none) demands
! expect: 61:24: error: 'r' is in no locality clause, as default(none) demands
! expect: 66:14: error: 'i' is in no locality clause, as default(none) demands
! expect: 70:36: error: 's' is in no locality clause, as default(none) demands
! expect: 68:27: error: 'r' is in no locality clause, as default(none) demands
! expect: 70:25: error: 'n' is in no locality clause, as default(none) demands
! expect: 71:28: error: 'l' is in no locality clause, as default(none) demands
! expect: 75:33: error: 's' cannot be in a local clause: its type has an allocatable component
! expect: 76:5: error: 'number_of' is not pure and cannot be called in a do concurrent loop
! expect: 79:36: error: 'p' is polymorphic, and the end of its block would deallocate it in a do concurrent loop
module definitions
  implicit none
  interface assignment(=)
    module procedure number_of
  end interface
  type inner
    integer, allocatable :: v(:)
  end type
  type outer
    type(inner) :: part(2)
  end type
  integer :: shared_one
contains
  subroutine number_of(i, l)
    integer, intent(out) :: i
    logical, intent(in) :: l
    i = merge(1, 0, l)
  end subroutine
end module
program header_types
  use definitions
  implicit none
  integer :: i, j, n, a(5)
  logical :: l
  real :: r
  type(outer) :: s
  n = 5
  do concurrent (r = 1:5)
  end do
  do concurrent (real :: k = 1:5)
  end do
  do concurrent (i = 1.0:5, j = 1:n:0)
  end do
  do concurrent (i = 1:a, i = 1:3)
  end do
  do concurrent (i = 1:5, i + 1)
  end do
  do concurrent (i = 1:5) default(none) shared(a)
    a(i) = kind(r)
    block
      use definitions, only: mine => shared_one
      a(i) = mine
      if (storage_size(r) > 0) a(i) = 0
    end block
  end do
  do concurrent (i = 1:5)
    do concurrent (j = 1:5) default(none) shared(a)
      a(j) = i
      block
        integer :: w(kind(r))
        w = j
        print *, (w(n), n = 1, 2), s%part(1)%v
        inquire (9, opened=l)
      end block
    end do
  end do
  do concurrent (i = 1:5) local(s)
    j = i > 3
    if (i > 3) fail image
    block
      class(inner), allocatable :: p
      class(inner), pointer :: q
      q => null()
    end block
  end do
end program
