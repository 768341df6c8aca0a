! A loop over an array that is not allocated ends the program at the loop.
! stops: unallocated.f90:7: Error: Array 'a' is not allocated
program unallocated
  implicit none
  integer :: i
  real, allocatable :: a(:)
  do concurrent (i = 1:3)
    a(i) = 1
  end do
end program
