! Powers with constant and variable exponents have the bits that an ordinary loop gives.
! flags: -O2 -ffp-contract=off
program powers
implicit none
integer, parameter :: n = 200
integer :: i, k(n), m(n), r(n), e(n)
integer(8) :: k8(n), r8(n), e8(n)
real :: x(n), y(n), z(n), p(n, 34), q(n, 34)
real(8) :: u(n), v(n), w(n), s(n, 34), t(n, 34)
call random_number(x); call random_number(u)
x = 3*x - 1; u = 3*u - 1
do i = 1, n; k(i) = mod(i, 17) - 5; m(i) = mod(7*i, 11) - 5; k8(i) = mod(i, 23) - 9; end do
do concurrent (i = 1:n)
  p(i, 1) = x(i)**0
  s(i, 1) = u(i)**0
  p(i, 2) = x(i)**1
  s(i, 2) = u(i)**1
  p(i, 3) = x(i)**2
  s(i, 3) = u(i)**2
  p(i, 4) = x(i)**3
  s(i, 4) = u(i)**3
  p(i, 5) = x(i)**4
  s(i, 5) = u(i)**4
  p(i, 6) = x(i)**5
  s(i, 6) = u(i)**5
  p(i, 7) = x(i)**6
  s(i, 7) = u(i)**6
  p(i, 8) = x(i)**7
  s(i, 8) = u(i)**7
  p(i, 9) = x(i)**8
  s(i, 9) = u(i)**8
  p(i, 10) = x(i)**9
  s(i, 10) = u(i)**9
  p(i, 11) = x(i)**10
  s(i, 11) = u(i)**10
  p(i, 12) = x(i)**11
  s(i, 12) = u(i)**11
  p(i, 13) = x(i)**12
  s(i, 13) = u(i)**12
  p(i, 14) = x(i)**13
  s(i, 14) = u(i)**13
  p(i, 15) = x(i)**14
  s(i, 15) = u(i)**14
  p(i, 16) = x(i)**15
  s(i, 16) = u(i)**15
  p(i, 17) = x(i)**16
  s(i, 17) = u(i)**16
  p(i, 18) = x(i)**17
  s(i, 18) = u(i)**17
  p(i, 19) = x(i)**18
  s(i, 19) = u(i)**18
  p(i, 20) = x(i)**19
  s(i, 20) = u(i)**19
  p(i, 21) = x(i)**20
  s(i, 21) = u(i)**20
  p(i, 22) = x(i)**21
  s(i, 22) = u(i)**21
  p(i, 23) = x(i)**22
  s(i, 23) = u(i)**22
  p(i, 24) = x(i)**23
  s(i, 24) = u(i)**23
  p(i, 25) = x(i)**24
  s(i, 25) = u(i)**24
  p(i, 26) = x(i)**25
  s(i, 26) = u(i)**25
  p(i, 27) = x(i)**26
  s(i, 27) = u(i)**26
  p(i, 28) = x(i)**27
  s(i, 28) = u(i)**27
  p(i, 29) = x(i)**28
  s(i, 29) = u(i)**28
  p(i, 30) = x(i)**29
  s(i, 30) = u(i)**29
  p(i, 31) = x(i)**30
  s(i, 31) = u(i)**30
  p(i, 32) = x(i)**31
  s(i, 32) = u(i)**31
  p(i, 33) = x(i)**32
  s(i, 33) = u(i)**32
  p(i, 34) = x(i)**(-3) + x(i)**(-1) + x(i)**(-7)
  s(i, 34) = u(i)**(-5) + u(i)**(-2)
end do
do i = 1, n
  q(i, 1) = x(i)**0
  t(i, 1) = u(i)**0
  q(i, 2) = x(i)**1
  t(i, 2) = u(i)**1
  q(i, 3) = x(i)**2
  t(i, 3) = u(i)**2
  q(i, 4) = x(i)**3
  t(i, 4) = u(i)**3
  q(i, 5) = x(i)**4
  t(i, 5) = u(i)**4
  q(i, 6) = x(i)**5
  t(i, 6) = u(i)**5
  q(i, 7) = x(i)**6
  t(i, 7) = u(i)**6
  q(i, 8) = x(i)**7
  t(i, 8) = u(i)**7
  q(i, 9) = x(i)**8
  t(i, 9) = u(i)**8
  q(i, 10) = x(i)**9
  t(i, 10) = u(i)**9
  q(i, 11) = x(i)**10
  t(i, 11) = u(i)**10
  q(i, 12) = x(i)**11
  t(i, 12) = u(i)**11
  q(i, 13) = x(i)**12
  t(i, 13) = u(i)**12
  q(i, 14) = x(i)**13
  t(i, 14) = u(i)**13
  q(i, 15) = x(i)**14
  t(i, 15) = u(i)**14
  q(i, 16) = x(i)**15
  t(i, 16) = u(i)**15
  q(i, 17) = x(i)**16
  t(i, 17) = u(i)**16
  q(i, 18) = x(i)**17
  t(i, 18) = u(i)**17
  q(i, 19) = x(i)**18
  t(i, 19) = u(i)**18
  q(i, 20) = x(i)**19
  t(i, 20) = u(i)**19
  q(i, 21) = x(i)**20
  t(i, 21) = u(i)**20
  q(i, 22) = x(i)**21
  t(i, 22) = u(i)**21
  q(i, 23) = x(i)**22
  t(i, 23) = u(i)**22
  q(i, 24) = x(i)**23
  t(i, 24) = u(i)**23
  q(i, 25) = x(i)**24
  t(i, 25) = u(i)**24
  q(i, 26) = x(i)**25
  t(i, 26) = u(i)**25
  q(i, 27) = x(i)**26
  t(i, 27) = u(i)**26
  q(i, 28) = x(i)**27
  t(i, 28) = u(i)**27
  q(i, 29) = x(i)**28
  t(i, 29) = u(i)**28
  q(i, 30) = x(i)**29
  t(i, 30) = u(i)**29
  q(i, 31) = x(i)**30
  t(i, 31) = u(i)**30
  q(i, 32) = x(i)**31
  t(i, 32) = u(i)**31
  q(i, 33) = x(i)**32
  t(i, 33) = u(i)**32
  q(i, 34) = x(i)**(-3) + x(i)**(-1) + x(i)**(-7)
  t(i, 34) = u(i)**(-5) + u(i)**(-2)
end do
if (any(p /= q)) error stop 1
if (any(s /= t)) error stop 2
do concurrent (i = 1:n)
  r(i) = m(i)**3 + k(i)**2 + (-1)**k(i) + 2**k(i) + m(i)**(-1)
  r8(i) = int(m(i), 8)**5 + k8(i)**m(3) + 3_8**k8(i)
end do
do i = 1, n
  e(i) = m(i)**3 + k(i)**2 + (-1)**k(i) + 2**k(i)
  if (m(i) == 1) e(i) = e(i) + 1
  if (m(i) == -1) e(i) = e(i) - 1
  e8(i) = int(m(i), 8)**5 + k8(i)**m(3) + 3_8**k8(i)
end do
if (any(r /= e)) error stop 3
if (any(r8 /= e8)) error stop 4
do concurrent (i = 1:n)
  y(i) = abs(x(i))**k(i) + 2.0**k8(i) + abs(x(i))**0.75
  v(i) = abs(u(i))**k(i) + 2d0**k8(i) + abs(u(i))**x(i) + m(i)**2.5d0*0
end do
do i = 1, n
  z(i) = abs(x(i))**k(i) + 2.0**k8(i) + abs(x(i))**0.75
  w(i) = abs(u(i))**k(i) + 2d0**k8(i) + abs(u(i))**x(i)
end do
if (any(abs(y - z) > 1e-5*abs(z))) error stop 5
do i = 1, n
  if (m(i) >= 0 .and. abs(v(i) - w(i)) > 1d-13*abs(w(i))) error stop 6
end do
print *, 'ok'
end program
