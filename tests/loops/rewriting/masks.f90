! A mask is evaluated for all iterations before the first one runs.
program masks
implicit none
integer :: a(8), b(8), i, j, m(3, 4), k
integer, target :: t(8)
integer, pointer :: p(:)
a = [1, 1, 1, 1, 1, 1, 1, 1]
do concurrent (i = 2:8, a(i - 1) > 0)
  a(i) = -1
end do
if (any(a /= [1, -1, -1, -1, -1, -1, -1, -1])) error stop 1
t = [1, 1, 1, 1, 1, 1, 1, 1]
p => t
do concurrent (i = 2:8, p(i - 1) > 0)
  t(i) = -1
end do
if (any(t /= a)) error stop 2
b = 1
do concurrent (i = 8:2:-1, positive(i))
  b(i - 1) = -1
end do
if (any(b /= [-1, -1, -1, -1, -1, -1, -1, 1])) error stop 3
m = 0
do concurrent (i = 1:3, j = 1:4, m(1, 1) == 0 .and. i /= j)
  m(i, j) = 10*i + j
  if (i == 2) cycle
  m(i, j) = -m(i, j)
end do
do j = 1, 4; do i = 1, 3
  k = merge(0, merge(10*i + j, -(10*i + j), i == 2), i == j)
  if (m(i, j) /= k) error stop 4
end do; end do
do concurrent (i = 5:1, a(i) > 0)
  a(i) = 99
end do
do concurrent (i = 1:8, b(i) < 0) ! the usual kind: only its own element
  b(i) = 7*i
end do
if (any(b /= [7, 14, 21, 28, 35, 42, 49, 1])) error stop 5
print *, 'ok'
contains
pure logical function positive(i)
  integer, intent(in) :: i
  positive = b(i) > 0
end function
end program
