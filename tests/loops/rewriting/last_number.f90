! Indices that run to the largest or the smallest number of their kind: an iteration has no next one.
program last_number
implicit none
integer(1) :: i1
integer(8) :: i8, wide(8)
integer :: i, j, a(0:300)
a = 0
wide = 0
do concurrent (i1 = 120_1:127_1)
  a(i1) = 2*i1
end do
do concurrent (i = 2147483640:2147483647:3, j = 3:huge(1_1):62)
  a(2147483647 - i + j) = a(2147483647 - i + j) + 1
end do
do concurrent (i = -2147483640:-huge(1) - 1:-4)
  a(200 - (i + 2147483640)) = i
end do
do concurrent (i8 = 9223372036854775800_8:huge(1_8), wide(1) == 0)
  wide(i8 - 9223372036854775799_8) = i8
end do
if (sum(a(120:127)) /= 2*sum([(i, i = 120, 127)])) error stop 1
if (a(4) /= 1 .or. a(134) /= 1 .or. a(128) /= 1) error stop 4
if (a(200) /= -2147483640 .or. a(204) /= -2147483644 .or. a(208) /= -2147483647 - 1) error stop 2
if (wide(1) /= 9223372036854775800_8 .or. wide(8) /= huge(i8)) error stop 3
print *, 'ok'
end program
