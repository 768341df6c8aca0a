! Without implicit none: intrinsic and external functions in the body are no variables, others are.
program implicit_names
  real x(5)
  interface
    pure real function ext(v)
      real, intent(in) :: v
    end function
  end interface
  k = 3
  do concurrent (i = 1:5) default(none) shared(x, k)
    x(i) = sin(0.0) + max(i, k) + ext(1.0)
  end do
  if (any(x /= [4, 4, 4, 5, 6])) error stop 1
  do concurrent (i = 1:5) default(none) shared(x) local(t)
    t = abs(-i)
    x(i) = t
  end do
  print *, 'ok'
end program
pure real function ext(v)
  real, intent(in) :: v
  ext = v
end function
