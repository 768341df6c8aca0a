! Labels, names, nesting, includes and lines of every form.
! files: forms_header.inc forms_body.inc
module counters
implicit none
integer :: calls = 0
contains
impure integer function once(k)
  integer, intent(in) :: k
  calls = calls + 1
  once = k
end function
end module
program forms
use counters
implicit none
integer :: i, j, k, a(10), b(4, 5), n
integer :: first_of_two_variables_with_names_that_are_as_long_as_they(3)
integer :: second_of_two_variables_with_names_that_are_as_long_as_they(3)
n = 10
a = 0
goto 5
a = 99
5 do 10, concurrent (i = 1:n)
  if (i == 3) goto 10
  a(i) = i
10 continue
if (any(a /= [1, 2, 0, 4, 5, 6, 7, 8, 9, 10])) error stop 1
do 20 concurrent (i = 1:n)
20 a(i) = 2*i
if (any(a /= [(2*i, i = 1, 10)])) error stop 2
outer: do concurrent (i = 1:4)
  b(i, :) = 0
  inner: do concurrent (j = 1:5)
    b(i, j) = i*j
    if (j > 2) cycle inner
    b(i, j) = -b(i, j)
  end do inner
  if (i == 4) cycle outer
  b(i, 5) = 100
end do outer
do i = 1, 4
  if (any(b(i, 1:4) /= [-i, -2*i, 3*i, 4*i]) .or. b(i, 5) /= merge(20, 100, i == 4)) error stop 3
end do
x: if (n > 5) then; do concurrent (i = 1:2); a(i) = -i; end do; else; a = 0; end if x; a(3) = -3
if (any(a(1:3) /= [-1, -2, -3])) error stop 4
a(1) = 5; do concurrent (i = 2:3); a(i) = a(1) + i
end do; a(4) = 77; do concurrent (i = 5:6)
a(i) = a(4) + i; end do
if (any(a(1:6) /= [5, 7, 8, 77, 82, 83])) error stop 5
a(1) = 1; &
do concurrent (i = 1:2, &
j = 1:3) ; &
b(i, j) = i + j; &
end do; a(2) = 2
if (any(b(1:2, 1:3) /= reshape([2, 3, 3, 4, 4, 5], [2, 3])) .or. a(2) /= 2) error stop 6
calls = 0
do concurrent (i = once(1):once(3):once(1), j = once(1):once(4))
  b(i, j) = 10*i + j
end do
if (calls /= 5 .or. b(3, 4) /= 34) error stop 7
n = 3
do concurrent (i = 1:n, j = 1:n)
  n = 100
  b(i, j) = 1
end do
if (sum(b(1:3, 1:3)) /= 9) error stop 8
do concurrent (i = 1:3, first_of_two_variables_with_names_that_are_as_long_as_they(i) == first_of_two_variables_with_names_that_are_as_long_as_they(i))
  first_of_two_variables_with_names_that_are_as_long_as_they(i) = i
end do
do concurrent (i = 1:3) local(k) shared(second_of_two_variables_with_names_that_are_as_long_as_they, first_of_two_variables_with_names_that_are_as_long_as_they)
  k = first_of_two_variables_with_names_that_are_as_long_as_they(i)
  second_of_two_variables_with_names_that_are_as_long_as_they(i) = k*k
end do
if (any(second_of_two_variables_with_names_that_are_as_long_as_they /= [1, 4, 9])) error stop 9
include 'forms_header.inc'
if (any(a /= [(3*i + 1, i = 1, 10)])) error stop 10
if (.true.) then
  block
    integer :: i
    do concurrent (i = 1:10)
      include 'forms_body.inc'
    end do
    if (any(a /= [(i, i = 1, 10)])) error stop 11
  end block
end if
do concurrent (i = 1:0); end do
associate (c => a(1:5))
  do concurrent (i = 1:5); c(i) = -c(i); end do
end associate
if (any(a(1:5) /= [(-i, i = 1, 5)])) error stop 12
select case (n)
case (100); do concurrent (i = 1:3); a(i) = 0; end do
case default; a = 1
end select
if (any(a(1:4) /= [0, 0, 0, -4])) error stop 13
do k = 1, 2
  do concurrent (i = 1:10)
    a(i) = k*i
  end do
end do
if (any(a /= [(2*i, i = 1, 10)])) error stop 14
!GCC$ ivdep
!GCC$ unroll 2
do concurrent (i = 1:2, j = 1:2)
  b(i, j) = -i*j
end do
if (any(b(1:2, 1:2) /= reshape([-1, -2, -2, -4], [2, 2]))) error stop 15
print *, 'ok'
end program
