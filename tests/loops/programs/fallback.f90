! With --gpu-allow-cpu-fallback a loop with output runs on the CPU, with a warning; the other one stays on the device.
! flags: --gpu-allow-cpu-fallback --gpu-report
! warns: fallback.f90:11:5: warning: input/output ('write')
! warns: fallback.f90:10:3: on the CPU: input/output ('write')
! warns: fallback.f90:13:3: offloaded: kernel fallback_line13
program fallback
  implicit none
  integer :: i, a(4)
  character(2) :: text(4)
  do concurrent (i = 1:4)
    write (text(i), '(i2)') i
  end do
  do concurrent (i = 1:4)
    a(i) = i
  end do
  if (any(text /= [' 1', ' 2', ' 3', ' 4']) .or. any(a /= [1, 2, 3, 4])) error stop 1
  print *, 'ok'
end program
