! Derived types on a device without real(8): a component reference counts by the component alone, a whole value by all.
! flags: --gpu=metal
! expect: 36:3: error: not yet implemented: a loop on Metal (--gpu=metal)
! expect: 39:3: error: not yet implemented: a loop on Metal (--gpu=metal)
! expect: 43:17: error: real(8) ('exact') cannot run on the device
! expect: 46:17: error: real(8) ('s', by its component 'exact') cannot run on the device
! expect: 49:5: error: real(8) ('s', by its component 'exact') cannot run on the device
! expect: 52:5: error: real(8) ('list', by its component 'first', by its component 'exact') cannot run on the device
! expect: 56:23: error: real(8) ('local', by its component 'exact') cannot run on the device
! expect: 61:17: error: real(8) ('grown', by its component 'exact') cannot run on the device
! expect: 64:17: error: real(8) ('z') cannot run on the device
! expect: 66:38: error: real(8) ('t', by its component 'exact') cannot run on the device
! expect: 69:3: error: not yet implemented: a loop on Metal (--gpu=metal)
! expect: 76:27: error: real(8) ('value') cannot run on the device
! expect: 81:19: error: real(8) ('one', by its component 'exact') cannot run on the device
program components
  implicit none
  type sample
    real :: x
    real(8) :: exact
  end type
  type holder
    integer :: n
    type(sample) :: first
    type(holder), pointer :: next => null()
  end type
  type, extends(sample) :: larger
    real :: more
  end type
  type(sample) :: s(6), t
  type(holder) :: list(6)
  type(larger) :: grown(6)
  complex(8) :: z(6)
  real :: r(6)
  integer :: i
  do concurrent (i = 1:6) ! passes: components that the device has
    r(i) = s(i)%x + list(i)%first%x + list(i)%n + grown(i)%x + grown(i)%more
  end do
  do concurrent (i = 1:6) ! passes: what is inquired is not evaluated
    list(i)%n = size(z) + kind(s(i)%exact)
  end do
  do concurrent (i = 1:6)
    r(i) = real(s(i)%exact)
  end do
  do concurrent (i = 1:6)
    r(i) = x_of(s(i))
  end do
  do concurrent (i = 1:6)
    s(i) = s(1)
  end do
  do concurrent (i = 1:6)
    list(i) = list(7 - i)
  end do
  do concurrent (i = 1:6)
    block
      type(sample) :: local
      local%x = i
    end block
  end do
  do concurrent (i = 1:6)
    r(i) = x_of(grown(i)%sample)
  end do
  do concurrent (i = 1:6)
    r(i) = real(z(i)%re)
  end do
  do concurrent (i = 1:6) local_init(t)
    r(i) = t%x
  end do
  do concurrent (i = 1:6) ! passes: another name, of which only a component is used
    associate (one => s(i), rest => list(1:3))
      r(i) = one%x + rest(1)%first%x
    end associate
  end do
  do concurrent (i = 1:6)
    associate (one => s(i), value => grown(i)%exact)
      r(i) = one%x + real(value)
    end associate
  end do
  do concurrent (i = 1:6)
    associate (one => s(i))
      r(i) = x_of(one)
    end associate
  end do
contains
  pure real function x_of(v)
    type(sample), intent(in) :: v
    x_of = v%x
  end function
end program
