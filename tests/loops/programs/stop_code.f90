! error stop ends the program with the code of the first iteration that comes to it; what was written before is there.
! stops: ERROR STOP 43
! status: 43
program stop_code
  implicit none
  integer :: i, a(1000)
  print *, 'before'
  a = 0
  do concurrent (i = 1:1000)
    a(i) = i
    if (mod(i, 43) == 0) error stop i
  end do
  print *, 'behind'
end program
