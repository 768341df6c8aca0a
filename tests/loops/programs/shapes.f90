! Arrays of any rank, bounds, strides and storage; limits and steps of both signs; aliases.
module data
implicit none
integer, parameter :: wp = kind(1d0)
real(wp), allocatable :: field(:, :)
integer :: scale = 3
integer, target :: pool(100)
contains
subroutine sections(a, b, k)
  integer, intent(inout) :: a(:)
  integer, intent(in) :: b(-2:), k
  integer :: i
  do concurrent (i = 1:size(a))
    a(i) = a(i) + 10*b(i - 3) + k
  end do
end subroutine
subroutine explicit(m, n1, n2)
  integer, intent(in) :: n1, n2
  integer, intent(inout) :: m(0:n1 - 1, n2)
  integer(8) :: j
  do concurrent (j = n2:1:-1)
    m(0, j) = m(n1 - 1, j) + int(j)
  end do
end subroutine
pure subroutine inside_pure(x)
  real, intent(inout) :: x(:)
  integer :: i
  do concurrent (i = lbound(x, 1):ubound(x, 1):2)
    x(i) = -x(i)
  end do
end subroutine
end module
program shapes
use data
implicit none
integer :: i, j, v(20), w(20), m(4, 6), c(2, 3, 4), n
integer, pointer :: p(:), q(:)
integer(8) :: big
integer, allocatable :: none(:)
real :: x(7)
type pair
  integer :: first
  integer :: second
end type
v = [(i, i = 1, 20)]
w = [(100*i, i = 1, 20)]
call sections(v(2:20:3), w(20:2:-3), 7)
do i = 1, 20
  if (mod(i, 3) == 2) then
    if (v(i) /= i + 10*100*(22 - i) + 7) error stop 1
  else if (v(i) /= i) then
    error stop 2
  end if
end do
do j = 1, 6; do i = 1, 4; m(i, j) = 10*i + j; end do; end do
call explicit(m, 4, 6)
if (any(m(1, :) /= [(40 + 2*j, j = 1, 6)])) error stop 3
if (any(m(2, :) /= [(20 + j, j = 1, 6)])) error stop 4
call sections(m(3, :), m(2, :), 0)
if (any(m(3, :) /= [(30 + j + 10*(20 + j), j = 1, 6)])) error stop 5
allocate(field(0:10, -1:1))
field = 1
do concurrent (i = 0:10)
  field(i, -1) = scale*i
  field(i, 1) = field(i, -1) + field(10 - i, 0)/4
end do
do i = 0, 10
  if (field(i, -1) /= 3*i .or. field(i, 1) /= 3*i + 0.25_wp .or. field(i, 0) /= 1) error stop 6
end do
c = 0
do concurrent (i = 2:3)
  c(2, i, i + 1) = i*i
end do
if (c(2, 2, 3) /= 4 .or. c(2, 3, 4) /= 9 .or. sum(c) /= 13) error stop 7
pool = [(i, i = 1, 100)]
p => pool(1:50)
q => pool(99:1:-2)
do concurrent (i = 1:10)
  p(i) = q(i) + pool(60 + i)
end do
if (any(pool(1:10) /= [(101 - 2*i + 60 + i, i = 1, 10)]) .or. any(pool(11:) /= [(i, i = 11, 100)])) error stop 8
big = 5000000000_8
do concurrent (integer(8) :: k = big:big + 4:2)
  v(k - big + 1) = int(mod(k, 1000_8))
end do
if (any(v(1:5:2) /= [0, 2, 4])) error stop 9
n = 0
do concurrent (i = 1:n)
  none(i) = 1
end do
do concurrent (i = 3:1)
  v(i) = -99
end do
do concurrent (i = 1:3:-1)
  v(i) = -99
end do
if (any(v == -99)) error stop 10
x = 1
call inside_pure(x)
if (any(x /= [-1, 1, -1, 1, -1, 1, -1])) error stop 11
!GCC$ ivdep
named: do concurrent (i = 1:20)
  w(i) = i
  w(i) = w(i) + w(i)/2; v(i) = -w(i)
end do named
if (any(w /= [(i + i/2, i = 1, 20)]) .or. any(v /= -w)) error stop 12
print *, 'ok'
end program
