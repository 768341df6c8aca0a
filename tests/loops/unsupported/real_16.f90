! at: 9
program real_16
  implicit none
  integer :: i
  real(16) :: x(5), third
  third = 1.0_16/3
  x = 0
  do concurrent (i = 1:5)
    x(i) = i*third
  end do
  do i = 1, 5
    if (x(i) /= i*(1.0_16/3)) error stop 1
  end do
  print *, 'ok'
end program
