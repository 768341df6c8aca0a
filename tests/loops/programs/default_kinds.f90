! Options that change the default kinds change them in kernels too.
! flags: -fdefault-real-8 -fdefault-integer-8 -fdefault-double-8
! launches: 2
program kinds
  implicit none
  integer :: i, big(5)
  real :: x(5)
  double precision :: d(5)
  big = 0
  x = 0
  d = 0
  do concurrent (i = 1:5)
    big(i) = 3000000000*i + int(2.5e9)
    x(i) = 1.0/3.0 + real(i)*0.1 + float(i)
  end do
  do concurrent (integer :: i = 1:5)
    d(i) = dble(i)/3.0 + 0.1d0 + nint(4e9)
  end do
  if (kind(x) /= 8 .or. kind(d) /= 8 .or. kind(i) /= 8) error stop 1
  if (any(big /= [(3000000000*i + 2500000000, i = 1, 5)])) error stop 2
  if (any(x /= [(1.0/3.0 + real(i)*0.1 + float(i), i = 1, 5)])) error stop 3
  if (any(d /= [(dble(i)/3.0 + 0.1d0 + 4000000000_8, i = 1, 5)])) error stop 4
  print *, 'ok'
end program
