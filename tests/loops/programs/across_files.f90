! Loops whose head, body or end come from include files: a loop on the device goes from one source into another.
! launches: 6
include 'across_module.inc'
end module
program across_files
use across_module, only: three
implicit none
real :: a(10), b(10)
integer :: i
a = 1; b = 0
include 'across_head.inc'
  a(i) = a(i) + three
end do                                  ! 4
do concurrent (i = 1:10)
  b(i) = a(i)
  include 'across_end.inc'
if (any(b(2:) /= 8) .or. b(1) /= 108) error stop 1
include 'across_nested_head.inc'
  a(i) = a(i) + i
  include 'across_nested_end.inc'
if (any(a /= [(5 + i, i = 1, 10)])) error stop 2
if (any(b(2:) /= 16) .or. b(1) /= 316) error stop 3
b = 1; named: do concurrent (i = 1:10); b(i) = b(i) + a(i)
include 'across_named_end.inc'
if (any(a /= [(5 + i, i = 1, 10)]) .or. any(b(3:) /= [(6 + i, i = 3, 10)]) .or. b(2) /= 58) error stop 4
! Nested: the head and the end of the inner loop lie elsewhere.
do concurrent (integer :: k = 1:1)
  include 'across_head.inc'
    a(i) = k
    b(i) = -k
  include 'across_plain_end.inc'
  a(1) = 7
end do
if (a(1) /= 7 .or. any(a(2:) /= 1) .or. any(b /= -1)) error stop 6
! One file with everything, and a loop of its own behind it.
include 'across_whole.inc'
if (any(b /= [(2*i, i = 1, 10)])) error stop 5
print *, 'ok'
end program
