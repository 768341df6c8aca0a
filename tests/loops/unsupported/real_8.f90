! at: 12
program real_8
  implicit none
  integer :: i
  real(8) :: x(5), y(5)
  real :: z(5)
  y = [(i/3d0, i = 1, 5)]
  do i = 1, 5
    z(i) = i
  end do
  do concurrent (i = 1:5)
    x(i) = y(i)*2 + z(i)
  end do
  do i = 1, 5
    if (x(i) /= y(i)*2 + i) error stop 1
  end do
  print *, 'ok'
end program
