! Operators, literals, constructors, designators.
module operators
   implicit none
   interface operator(.cross.)
      module procedure cross
   end interface
   interface operator(.neg.)
      module procedure neg
   end interface
   interface operator(==)
      module procedure same
   end interface
   type vector
      real :: v(3)
      complex :: c
   end type
contains
   pure function cross(a, b)
      type(vector), intent(in) :: a, b
      type(vector) :: cross
      cross = vector(a%v(2)*b%v([3, 1, 2]), (0.0, 1.0))
   end function
   pure type(vector) function neg(a)
      type(vector), intent(in) :: a
      neg%v = -a%v
      neg%c%re = a%c%im; neg%c%im = -a%c%re
   end function
   elemental logical function same(a, b)
      type(vector), intent(in) :: a, b
      same = all(a%v == b%v) .and. a%c == b%c
   end function
   subroutine test(a, b, n, s)
      type(vector), intent(inout) :: a, b(:)
      integer, intent(in) :: n
      character(*), intent(in) :: s
      integer, parameter :: ik = selected_int_kind(9), rk = selected_real_kind(p=6, r=37)
      integer(ik) :: i, j
      real(rk) :: x, y(n)
      logical :: l
      complex(kind=8) :: z
      character(len=:), allocatable :: t
      i = 1_ik + 2_4*3 - 4/5**2**1
      x = -1.5e-3 + 1d0 + 1.0_rk + .5 + 5. + 1.e2 + 3.E+4
      i = int(z'7f') + int(b'101') + int(O"17")
      l = 1.lt.2.and.3.ge.2.or..not.x.eq.1..eqv..true._4.neqv..false.
      l = i <= j .and. i /= j .or. (i > j .eqv. .not. l)
      z = (1.0d0, -2) + cmplx(x, y(1), kind=8)
      t = 'it''s'//"say ""yes"""//s(2:3)//s(:n)//s(n:)//'literal'(2:4)
      y = [1.0, (real(j), j=1, n - 2), 2.0]
      y = (/ (x, j = 1, n) /)
      y(1:n:2) = [real(rk) :: 1, 2, 3]
      y([1, 3, 2]) = y(:3)
      print *, [character(len=4) :: 'a', 'bcd']
      b(1) = .neg.a.cross.b(2)
      l = (a.cross..neg.b(1)) == a
      b(2:)%v(1) = b(:size(b) - 1)%v(2)
      x = a%v(2)**(-1) + abs(a%c%re) - (-x)**2
      print *, a%v%kind, s%len
   end subroutine
   function f()
      type(vector) :: f
      f = vector([1., 2., 3.], c=(1, 2))
   end function
end module
