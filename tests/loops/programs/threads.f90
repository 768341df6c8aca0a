! Threads of the host launch loops on their own parts of one array at the same time, and write to others.
! flags: -fopenmp
program threads
use omp_lib
implicit none
integer, parameter :: n = 4000, parts = 8
integer :: a(n, parts), b(parts), part, i, round
a = 0
b = 0
!$omp parallel do private(i, round) num_threads(4) schedule(dynamic, 1)
do part = 1, parts
  do round = 1, 20
    if (mod(part, 2) == 0) then
      call add(a(:, part), part)
    else
      a(:, part) = a(:, part) + part
      call add_one(a, part)
    end if
  end do
end do
do part = 1, parts
  if (any(a(2:, part) /= 20*part)) error stop 1
  if (a(1, part) /= merge(20*part, 20*part + 20, mod(part, 2) == 0)) error stop 2
end do
print *, 'ok'
contains
subroutine add(x, k)
  integer, intent(inout) :: x(:)
  integer, intent(in) :: k
  integer :: i
  do concurrent (i = 1:size(x))
    x(i) = x(i) + k
  end do
end subroutine
subroutine add_one(x, k)
  integer, intent(inout) :: x(:, :)
  integer, intent(in) :: k
  integer :: i
  do concurrent (i = k:k)
    x(1, i) = x(1, i) + 1
  end do
end subroutine
end program
