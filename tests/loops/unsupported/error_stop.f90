! at: 7
program error_stop
  implicit none
  integer :: i, a(4)
  do concurrent (i = 1:4)
    a(i) = 3*i
    if (a(i) > 100) error stop 'too large'
  end do
  if (any(a /= [3, 6, 9, 12])) error stop 1
  print *, 'ok'
end program
