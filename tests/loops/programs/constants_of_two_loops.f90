! Two loops of a file use the same constant array, and texts.
! launches: 2
program constants_of_two_loops
  implicit none
  integer, parameter :: weights(3) = [4, 5, 6]
  character(2), parameter :: names(2) = ['ab', 'cd']
  integer :: i, k, a(6), b(6)
  k = 1
  do concurrent (i = 1:6)
    a(i) = weights(mod(i, 3) + 1) + ichar(names(k)(2:2))
  end do
  do concurrent (i = 1:6)
    b(i) = 2*weights(mod(i, 3) + 1) + ichar(names(k + 1)(1:1))
  end do
  if (any(a /= [(weights(mod(i, 3) + 1) + 98, i = 1, 6)])) error stop 1
  if (any(b /= [(2*weights(mod(i, 3) + 1) + 99, i = 1, 6)])) error stop 2
  print *, 'ok'
end program
