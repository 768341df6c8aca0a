! Data that only a called procedure sees: private to a module, of a module the caller does not use, in a common block.
! launches: 2
module keeper
  implicit none
  private
  integer :: offset = 5
  real, allocatable :: table(:)
  integer, parameter :: scale = 3
  public :: fill, kept
contains
  subroutine fill(n)
    integer, intent(in) :: n
    integer :: i
    allocate(table(0:n))
    table = [(0.5*i, i = 0, n)]
    offset = n
  end subroutine
  pure real function kept(k)
    integer, intent(in) :: k
    kept = table(k)*scale + offset
  end function
end module

module open_data
  implicit none
  integer :: shift(3) = [10, 20, 30]
end module

module between
  implicit none
contains
  pure integer function shifted(k)
    use open_data
    integer, intent(in) :: k
    integer :: first, list(2:4)
    common /block/ first, list
    shifted = shift(mod(k, 3) + 1) + first*list(mod(k, 3) + 2)
  end function
end module

program hidden_data
  use keeper
  use between
  implicit none
  real :: x(10)
  integer :: i, n(10), all(4)
  common /block/ all
  all = [2, 3, 5, 7]
  call fill(10)
  do concurrent (i = 1:10)
    x(i) = kept(i)
  end do
  if (any(x /= [(1.5*i + 10, i = 1, 10)])) error stop 1
  do concurrent (i = 1:10)
    n(i) = shifted(i)
  end do
  do i = 1, 10
    if (n(i) /= 10*(mod(i, 3) + 1) + 2*all(mod(i, 3) + 2)) error stop 2
  end do
  print *, 'ok'
end program
