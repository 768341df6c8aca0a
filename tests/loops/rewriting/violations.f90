! What Fortran forbids in do concurrent is an error, also on the CPU.
! expect: 15:16: error: 'k' is in no locality clause
! expect: 19:10: error: 'f' is not pure
! expect: 20:3: error: 's' is not pure
! expect: 23:3: error: 'i' is an index
! expect: 24:14: error: 'return' is not allowed
! expect: 28:7: error: a branch to label 10 leaves
program chk
implicit none
integer :: i, a(5), k, t
do concurrent (i = 1:5) default(none) shared(a)
  block
    integer :: z
    z = i
    a(i) = z + k
  end block
end do
do concurrent (i = 1:5)
  a(i) = f(i)
  call s(a(i))
end do
do concurrent (i = 1:5)
  i = 3
  if (i > 2) return
  do t = 1, 3
    if (t == 2) exit
    do while (.true.)
      goto 10
    end do
  end do
end do
10 continue
contains
integer function f(x)
integer, intent(in) :: x
f = x
end function
subroutine s(x)
integer, intent(inout) :: x
x = x + 1
end subroutine
end program
