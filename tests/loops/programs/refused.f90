! What is not done yet is an error at its place, each loop once; what never will be is one of its own kind.
! expect: 11:5: error: not yet implemented: 'if construct'
! expect: 16:27: error: not yet implemented: a mask
! expect: 20:12: error: not yet implemented: a call of 'mine'
! expect: 23:5: error: input/output ('print') cannot run on the device
! expect: 26:12: error: real(16) ('q') cannot run on the device
program refused
  implicit none
  integer :: i, a(9); real(16) :: q(9); real :: x(9)
  do concurrent (i = 1:9)
    if (i > 3) then
      a(i) = 1
    end if
    a(i) = 2
  end do
  do concurrent (i = 1:9, a(i) > 0)
    a(i) = 1
  end do
  do concurrent (i = 1:9)
    a(i) = mine(i)
  end do
  do concurrent (i = 1:9)
    print *, i
  end do
  do concurrent (i = 1:9)
    x(i) = q(i)
  end do
contains
  pure integer function mine(k)
    integer, intent(in) :: k
    mine = k
  end function
end program
