! What cannot be resolved is an error at its place, never a guess, with the fallback too.
! flags: --gpu=cuda_cpu --gpu-allow-cpu-fallback
! expect: 46:12: error: 'elsewhere' cannot be called on the device: its body is not in this file, nor known from a module's information
! expect: 49:12: error: 'c_secret' cannot be called on the device: its body is not in this file, nor known from a module's information
! expect: 52:12: error: not yet implemented: a call through 'pointed' on the device; which procedure it means is known at run time only
! expect: 17:15: error: not yet implemented: a call through 'f' on the device; which procedure it means is known at run time only; the loop at line 54 reaches it
module shapes
  implicit none
contains
  pure real function applied(f, x)
    interface
      pure real function f(x)
        real, intent(in) :: x
      end function
    end interface
    real, intent(in) :: x
    applied = f(x)
  end function
  pure real function square(x)
    real, intent(in) :: x
    square = x*x
  end function
end module
program unresolved
  use shapes
  implicit none
  interface
    pure real function elsewhere(x)
      real, intent(in) :: x
    end function
    pure function c_abs(x) bind(c, name='fabsf')
      use, intrinsic :: iso_c_binding, only: c_float
      real(c_float), value, intent(in) :: x
      real(c_float) :: c_abs
    end function
    pure function c_secret(x) bind(c, name='secret')
      use, intrinsic :: iso_c_binding, only: c_float
      real(c_float), value, intent(in) :: x
      real(c_float) :: c_secret
    end function
  end interface
  procedure(elsewhere), pointer :: pointed
  real :: x(5)
  integer :: i
  do concurrent (i = 1:5)
    x(i) = elsewhere(x(i))
  end do
  do concurrent (i = 1:5)
    x(i) = c_secret(x(i))
  end do
  do concurrent (i = 1:5)
    x(i) = pointed(x(i))
  end do
  do concurrent (i = 1:5)
    x(i) = applied(square, x(i))
  end do
  do concurrent (i = 1:5)
    print *, elsewhere(x(i))
  end do
end program
