! Reductions of many iterations: the same bits at each launch, arrays, several at once, and the value before the loop.
! launches: 6
program reductions
  implicit none
  integer, parameter :: n = 300000
  real(8), allocatable :: x(:)
  real(8) :: s, first, largest
  integer :: i, k, count(0:6), low
  integer(8) :: total
  logical :: any_negative
  allocate(x(n))
  do i = 1, n
    x(i) = sin(real(i, 8))
  end do
  do k = 1, 3
    s = 100
    do concurrent (i = 1:n) reduce(+: s)
      s = s + x(i)
    end do
    if (k == 1) first = s
    if (s /= first) error stop 1
  end do
  if (abs(s - 100 - sum(x)) > 1d-9*n) error stop 2
  count = [(10*i, i = 0, 6)]
  total = 5
  largest = -9
  low = 9
  any_negative = .false.
  do concurrent (i = 1:n) reduce(+: count, total) reduce(max: largest) reduce(min: low) reduce(.or.: any_negative)
    count(mod(i, 7)) = count(mod(i, 7)) + 1
    total = total + i
    largest = max(largest, x(i))
    low = min(low, 5 - mod(i, 1000))
    any_negative = any_negative .or. x(i) < -0.99999d0
  end do
  do i = 0, 6
    if (count(i) /= 10*i + (n + 7 - i)/7 - merge(1, 0, i == 0)) error stop 3
  end do
  if (total /= 5 + int(n, 8)*(n + 1)/2) error stop 4
  if (largest /= maxval(x) .or. low /= 5 - 999 .or. any_negative .neqv. any(x < -0.99999d0)) error stop 5
  total = -7
  do concurrent (i = 1:0) reduce(+: total)
    total = total + 1
  end do
  if (total /= -7) error stop 6
  do concurrent (i = 1:1) reduce(+: total)
    total = total + 1
  end do
  if (total /= -6) error stop 7
  do concurrent (i = 1:n, mod(i, 2) == 0) reduce(+: total)
    total = total + 2
  end do
  if (total /= n - 6) error stop 8
  print *, 'ok'
end program
