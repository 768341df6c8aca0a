! Integer and real arithmetic of all kinds, mixed, against ordinary loops.
! flags: -O2 -ffp-contract=off
program arithmetic
implicit none
integer, parameter :: n = 1000, i1 = 1, i2 = 2, i8 = 8, dp = kind(1d0)
integer :: i
integer(i1) :: b1(n), c1(n), r1(n), e1(n)
integer(i2) :: b2(n), r2(n), e2(n)
integer :: b4(n), c4(n), r4(n), e4(n)
integer(i8) :: b8(n), r8(n), e8(n)
real :: x(n), y(n), rx(n), ex(n)
real(dp) :: u(n), v(n), ru(n), eu(n)
call random_number(x); call random_number(y); call random_number(u); call random_number(v)
x = 20*x - 10; y = 4*y + 0.5; u = 20*u - 10; v = 4*v + 0.5_dp
do i = 1, n
  b1(i) = int(mod(37*i, 100) - 50, i1); c1(i) = int(mod(i, 9) + 1, i1)
  b2(i) = int(mod(777*i, 2001) - 1000, i2)
  b4(i) = mod(12345*i, 20001) - 10000; c4(i) = mod(i, 13) + 1; if (mod(i, 2) == 0) c4(i) = -c4(i)
  b8(i) = 10000000000_i8*b4(i) + i
end do
do concurrent (i = 1:n)
  r1(i) = b1(i)/c1(i) - c1(i)
  r2(i) = b2(i) + b1(i)*c1(i)
  r4(i) = (b4(i)/c4(i))*c4(i) - (-b4(i)) + mod(b4(i), c4(i)) + modulo(b4(i), c4(i))*1000
  r8(i) = b8(i)/c4(i) + b4(i)*3_i8 - modulo(b8(i), 1000003_i8)
  rx(i) = x(i)*y(i) + x(i)/y(i) - b4(i)*0.3 + c4(i)/7
  ru(i) = u(i)*v(i) + x(i)*v(i) - b8(i)*1e-9_dp + u(i)/y(i) - 2.5e0*y(i) + 1d-3
end do
do i = 1, n
  e1(i) = b1(i)/c1(i) - c1(i)
  e2(i) = int(b2(i) + b1(i)*c1(i), i2)
  e4(i) = (b4(i)/c4(i))*c4(i) - (-b4(i)) + mod(b4(i), c4(i)) + modulo(b4(i), c4(i))*1000
  e8(i) = b8(i)/c4(i) + b4(i)*3_i8 - modulo(b8(i), 1000003_i8)
  ex(i) = x(i)*y(i) + x(i)/y(i) - b4(i)*0.3 + c4(i)/7
  eu(i) = u(i)*v(i) + x(i)*v(i) - b8(i)*1e-9_dp + u(i)/y(i) - 2.5e0*y(i) + 1d-3
end do
if (any(r1 /= e1)) error stop 1
if (any(r2 /= e2)) error stop 2
if (any(r4 /= e4)) error stop 3
if (any(r8 /= e8)) error stop 4
if (any(rx /= ex)) error stop 5
if (any(ru /= eu)) error stop 6
do concurrent (i = 1:n)
  r4(i) = int(x(i)) + 10*nint(x(i)) + 100*floor(x(i)) + 1000*ceiling(x(i)) + abs(b4(i)) + sign(b4(i), c4(i))
  r8(i) = int(u(i)*1d9, i8) + nint(u(i), i8) + floor(v(i), i8) + min(b8(i), 5_i8) + max(b8(i), int(b4(i), 8))
  rx(i) = aint(x(i)) + 10*anint(x(i)) + abs(x(i)) + sign(y(i), x(i)) + mod(x(i), y(i)) + 3*modulo(x(i), y(i)) + real(b8(i))
  ru(i) = min(u(i), v(i), 0.5_dp) + max(u(i), real(x(i), dp), v(i)) + dble(b4(i)) + modulo(u(i), -v(i)) + real(b4(i), 8)
  r2(i) = int(iand(b4(i), 255) + ior(b4(i), 3) + ieor(b4(i), c4(i)) + not(c4(i)), i2)
end do
do i = 1, n
  e4(i) = int(x(i)) + 10*nint(x(i)) + 100*floor(x(i)) + 1000*ceiling(x(i)) + abs(b4(i)) + sign(b4(i), c4(i))
  e8(i) = int(u(i)*1d9, i8) + nint(u(i), i8) + floor(v(i), i8) + min(b8(i), 5_i8) + max(b8(i), int(b4(i), 8))
  ex(i) = aint(x(i)) + 10*anint(x(i)) + abs(x(i)) + sign(y(i), x(i)) + mod(x(i), y(i)) + 3*modulo(x(i), y(i)) + real(b8(i))
  eu(i) = min(u(i), v(i), 0.5_dp) + max(u(i), real(x(i), dp), v(i)) + dble(b4(i)) + modulo(u(i), -v(i)) + real(b4(i), 8)
  e2(i) = int(iand(b4(i), 255) + ior(b4(i), 3) + ieor(b4(i), c4(i)) + not(c4(i)), i2)
end do
if (any(r4 /= e4)) error stop 7
if (any(r8 /= e8)) error stop 8
if (any(rx /= ex)) error stop 9
if (any(ru /= eu)) error stop 10
if (any(r2 /= e2)) error stop 11
print *, 'ok'
end program
