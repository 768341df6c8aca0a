! What may not be in a header or a locality clause, and what leaves the loop in unusual ways.
program headers
  implicit none
  type closed
    integer :: n
  end type
  integer :: i, j, n, m, a(5), v(5)
  integer, parameter :: c = 3
  real :: x
  logical :: l
  character(3) :: s
  integer, allocatable :: al
  integer, codimension[*], save :: co
  integer, volatile :: vo
  do concurrent (i = 1:5, j = 1:i)
    a(i) = j
  end do
  do concurrent (i = 1:n, m > 2) local(n, m)
    n = i
  end do
  do concurrent (i = 1:5) local(n, m) shared(n) local(i)
    n = i
  end do
  do concurrent (i = 1:5) local(al) local_init(c) shared(nowhere)
    a(i) = 1
  end do
  do concurrent (i = 1:5) reduce(+: l, n) reduce(.and.: m) reduce(ior: x) reduce(max: s) reduce(*: vo, co)
    n = n + i
  end do
  do concurrent (i = 1:5) default(none) shared(a)
    a(i) = n + c
    read (s, *, err=10) v
  end do
  do concurrent (i = 1:5)
    write (*, '(i0)', advance='no') i
    call sub(a(i), *10)
    allocate (al)
    sync memory
    stop 3
  end do
10 continue
contains
  subroutine sub(k, *)
    integer, intent(in) :: k
    if (k > 1) return 1
  end subroutine
end program
