! What is not done yet is an error at its place, each loop once; what never will be is one of its own kind.
! expect: 9:12: error: not yet implemented: 'v', which is volatile
! expect: 12:5: error: input/output ('print') cannot run on the device
! expect: 15:12: error: real(16) ('q') cannot run on the device
program refused
  implicit none
  integer :: i, a(9); real(16) :: q(9); real :: x(9); integer, volatile :: v(9)
  do concurrent (i = 1:9)
    a(i) = v(i)
  end do
  do concurrent (i = 1:9)
    print *, i
  end do
  do concurrent (i = 1:9)
    x(i) = q(i)
  end do
end program
