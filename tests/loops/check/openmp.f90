! Loops of OpenMP's go through the check of the unsupported list, but not through the constraints of do concurrent.
! flags: --gpu=metal --gpu-offload-omp-loops
! expect: 28:3: error: not yet implemented: a loop on Metal (--gpu=metal)
! expect: 18:5: error: input/output ('write') cannot run on the device
! expect: 39:5: error: real(8) ('d') cannot run on the device
! expect: 43:17: error: stop cannot run on the device
module impure_ones
  implicit none
  integer :: seen(10)
contains
  subroutine note(i)
    integer, intent(in) :: i
    seen(i) = i
  end subroutine
  subroutine tell(i)
    integer, intent(in) :: i
    call note(i)
    write (*, *) i
  end subroutine
end module
program openmp
  use impure_ones
  implicit none
  integer :: i, a(10)
  real(8) :: d(10)
  !$omp parallel do schedule(static) &
  !$omp& shared(a)
  do i = 1, 10
    a(i) = i
    call note(i)
  end do
  !$omp end parallel do
  !$omp parallel do
  do i = 1, 10
    call tell(i)
  end do
  !$omp parallel do
  do i = 1, 10
    d(i) = i
  end do
  !$omp parallel do
  do i = 1, 10
    if (i > 11) stop 2
  end do
end program
