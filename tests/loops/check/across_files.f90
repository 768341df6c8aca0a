! Constraints where a loop inside another one begins or ends in an included file: each violation is reported once.
! expect: 14:12: error: 'f' is not pure
! expect: 16:10: error: 'g' is not pure
! expect: 18:12: error: 'f' is not pure
! expect: 20:10: error: 'g' is not pure
program t
implicit none
real :: a(10)
integer :: i


do concurrent (integer :: k = 1:1)
  include 'across_head.inc'
    a(i) = f()
  end do
  a(1) = g()
  do concurrent (i = 1:10)
    a(i) = f()
  include 'across_end.inc'
  a(1) = g()
end do
contains
 real function f()
  print *, 1
  f = 1
 end function
 real function g()
  print *, 1
  g = 1
 end function
end program
