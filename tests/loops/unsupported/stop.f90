! flags: --gpu-offload-omp-loops
! at: 9
program stop_in_loop
  implicit none
  integer :: i, a(4)
  !$omp parallel do
  do i = 1, 4
    a(i) = 3*i
    if (a(i) > 100) stop 3
  end do
  !$omp end parallel do
  if (any(a /= [3, 6, 9, 12])) error stop 1
  print *, 'ok'
end program
