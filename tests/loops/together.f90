! A program with BLAS calls and a parallel loop: one device, one summary, one trace, and children of fork.
module processes
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  interface
    integer(c_int) function fork() bind(c)
      import :: c_int
    end function
    subroutine leave(status) bind(c, name='_exit')
      import :: c_int
      integer(c_int), value :: status
    end subroutine
    integer(c_int) function wait(status) bind(c)
      import :: c_int
      integer(c_int) :: status
    end function
  end interface
end module
program together
  use processes
  implicit none
  integer, parameter :: n = 200
  real(8), allocatable :: a(:, :), b(:, :), c(:, :)
  integer(c_int) :: child, status
  integer :: i, round
  allocate (a(n, n), b(n, n), c(n, n))
  a = 1
  b = 2
  do round = 1, 3
    call dgemm('n', 'n', n, n, n, 1d0, a, n, b, n, 0d0, c, n)
    do concurrent (i = 1:n)
      a(i, 1) = c(i, 1) - 2*n + 1
    end do
    child = fork()
    if (child == 0) call leave(round)
    child = wait(status)
    if (status /= 256*round) error stop 2
  end do
  if (any(a /= 1) .or. any(c /= 2*n)) error stop 1
  print *, 'ok'
end program
