! What is not done yet is an error at its place, each loop once; what never will be is one of its own kind.
! expect: 12:5: error: not yet implemented: 'if construct'
! expect: 17:27: error: not yet implemented: more than one index
! expect: 20:27: error: not yet implemented: a mask
! expect: 24:12: error: not yet implemented: a call of 'mine'
! expect: 27:5: error: input/output ('print') cannot run on the device
! expect: 30:12: error: real(16) ('q') cannot run on the device
program refused
  implicit none
  integer :: i, j, a(9), b(9, 9); real(16) :: q(9); real :: x(9)
  do concurrent (i = 1:9)
    if (i > 3) then
      a(i) = 1
    end if
    a(i) = 2
  end do
  do concurrent (i = 1:9, j = 1:9)
    b(i, j) = 1
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
