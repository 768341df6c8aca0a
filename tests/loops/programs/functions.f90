! Mathematical functions, in a file whose names are words of C; the launches of both kernels are counted.
! launches: 21
program functions
  implicit none
  integer, parameter :: n = 500
  integer :: int(n), for, register
  real :: float(n), exp_(n), sin_(n)
  real(8) :: double(n), while(n), abs_(n)
  call random_number(float); call random_number(double)
  register = 2
  do concurrent (for = 1:n)
    int(for) = for*register
    exp_(for) = exp(float(for)) + log(float(for) + 1) + sqrt(float(for)) + tanh(float(for)) + atan2(float(for), 2.0)
    while(for) = sin(double(for))*cos(double(for)) + tan(double(for)) + asin(double(for)) + acos(double(for)) + &
      atan(double(for)) + sinh(double(for)) + cosh(double(for)) + erf(double(for)) + gamma(double(for) + 1) + &
      log10(double(for) + 2) + hypot(double(for), 3d0) + log_gamma(double(for) + 1) + erfc(double(for)) + &
      asinh(double(for)) + acosh(double(for) + 1) + atanh(double(for)/2)
  end do
  do for = 1, n
    sin_(for) = exp(float(for)) + log(float(for) + 1) + sqrt(float(for)) + tanh(float(for)) + atan2(float(for), 2.0)
    abs_(for) = sin(double(for))*cos(double(for)) + tan(double(for)) + asin(double(for)) + acos(double(for)) + &
      atan(double(for)) + sinh(double(for)) + cosh(double(for)) + erf(double(for)) + gamma(double(for) + 1) + &
      log10(double(for) + 2) + hypot(double(for), 3d0) + log_gamma(double(for) + 1) + erfc(double(for)) + &
      asinh(double(for)) + acosh(double(for) + 1) + atanh(double(for)/2)
    if (int(for) /= 2*for) error stop 1
  end do
  if (any(abs(exp_ - sin_) > 1e-5*abs(sin_))) error stop 2
  if (any(abs(while - abs_) > 1d-12*abs(abs_))) error stop 3
  do register = 1, 20
    do concurrent (for = 1:n)
      int(for) = int(for) + register
    end do
  end do
  if (any(int /= [(2*for + 210, for = 1, n)])) error stop 4
  print *, 'ok'
end program
