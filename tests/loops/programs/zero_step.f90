! A step of zero.
! stops: zero_step.f90:7: Error: the step of the loop is zero
program zero_step
  implicit none
  integer :: i, n, a(9)
  n = command_argument_count()
  do concurrent (i = 1:9:n)
    a(i) = 1
  end do
  print *, a
end program
