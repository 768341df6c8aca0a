! Loops inside each other whose heads and ends come from include files.
implicit none
real :: a(10)
integer :: i
do concurrent (integer :: k = 1:1) local(i)
  include 'across_head.inc'
    a(j) = k + j
    include 'across_end.inc'
  do concurrent (integer :: j = 1:10)
    a(j) = 2*a(j)
  include 'across_end.inc'
  a(1) = 7
end do
do concurrent (integer :: k = 1:1) default(none) shared(a); a(2) = 8; end do
if (any(a /= [7., 8., (2*(1. + i), i = 3, 10)])) error stop 1
print *, 'ok'
end program
