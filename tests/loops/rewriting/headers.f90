! What may not be in a header or a locality clause, and what leaves the loop in unusual ways.
! expect: 38:33: error: 'i' is an index of the loop, and limits are evaluated before there are indices
! expect: 41:24: error: 'n' is local to the iterations and has no value in the loop's limits
! expect: 41:27: error: 'm' is local to the iterations and has no value in the loop's mask
! expect: 44:46: error: 'n' is in more than one locality clause
! expect: 44:55: error: 'i' is an index of the loop
! expect: 47:33: error: 'al' cannot be in a local clause: it is allocatable
! expect: 47:48: error: 'c' cannot be in a local_init clause: it is not a variable
! expect: 47:58: error: 'nowhere' is not declared
! expect: 50:37: error: 'l' cannot be in a reduce clause: the operation is not defined for its type
! expect: 50:57: error: 'm' cannot be in a reduce clause: the operation is not defined for its type
! expect: 50:72: error: 'x' cannot be in a reduce clause: the operation is not defined for its type
! expect: 50:87: error: 's' cannot be in a reduce clause: the operation is not defined for its type
! expect: 50:100: error: 'vo' cannot be in a reduce clause: it is volatile
! expect: 50:104: error: 'co' cannot be in a reduce clause: it is a coarray
! expect: 54:12: error: 'n' is in no locality clause, as default(none) demands
! expect: 55:11: error: 's' is in no locality clause, as default(none) demands
! expect: 55:25: error: 'v' is in no locality clause, as default(none) demands
! expect: 55:17: error: a branch to label 10 leaves the do concurrent loop
! expect: 58:31: error: 'advance=' is not allowed in a do concurrent loop
! expect: 59:20: error: a branch to label 10 leaves the do concurrent loop
! expect: 61:5: error: 'sync memory' is not allowed in a do concurrent loop
! expect: 62:5: error: 'stop' is not allowed in a do concurrent loop
! expect: 59:5: error: 'sub' is not pure and cannot be called in a do concurrent loop
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
