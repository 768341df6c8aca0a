! Construct entities of every kind: types, kinds, bounds, lengths, pointers, default initialisation.
module kinds
implicit none
integer, parameter :: wp = kind(1d0)
type point
  real(wp) :: x = 1.5_wp
  integer :: n = 7
end type
end module
program localities
use kinds
implicit none
integer :: three(3)
call all(4, 'abcde')
call named_kind(three, 3)
if (any(three /= [4, 5, 6])) error stop 8
print *, 'ok'
contains
subroutine all(n, text)
  integer, intent(in) :: n
  character(len=*), intent(in) :: text
  integer :: i
  real(wp) :: r, v(0:n), e(n)
  complex(wp) :: z
  logical(1) :: l
  integer(8) :: k8
  character(len=len(text)) :: c
  character(3) :: d(2)
  type(point) :: q, w(2)
  integer, target :: one, two
  integer, pointer :: p
  integer, pointer :: list(:)
  integer, allocatable :: result(:)
  integer :: seen(n), lens(n), m(2, -1:n)
  character(len=len(text)) :: texts(n)
  allocate(result(n))
  r = -1; v = -2; z = (1, 2); l = .true._1; k8 = 77; c = 'outer'; d = 'out'; q = point(9, 9); m = 5; one = 1; two = 2
  p => two
  allocate(list(3)); list = 4
  do concurrent (i = 1:n) local(r, v, z, l, k8, c, d, m)
    r = i*1.5_wp
    v(0) = r
    v(n) = v(0) + 1
    z = cmplx(r, -r, wp)
    l = mod(i, 2) == 0
    k8 = i*10000000000_8
    c = text
    d(2) = c(2:4)
    m(2, n) = i
    e(i) = v(n) + real(z) + merge(1, 0, l) + k8/10000000000_8 + m(2, n)
    texts(i) = c(1:2)//d(2)
    lens(i) = len(c) + 10*lbound(v, 1) + 100*ubound(v, 1) + 1000*lbound(m, 2)
  end do
  do i = 1, n
    if (e(i) /= 2*1.5_wp*i + 1 + merge(1, 0, mod(i, 2) == 0) + 2*i) error stop 1
    if (texts(i) /= 'abbcd') error stop 2
    if (lens(i) /= 5 + 100*n - 1000) error stop 3
  end do
  if (r /= -1 .or. any(v /= -2) .or. z /= (1, 2) .or. .not. l .or. k8 /= 77 .or. c /= 'outer') error stop 4
  if (any(d /= 'out') .or. any(m /= 5)) error stop 5
  do concurrent (i = 1:n) local(q, w)
    seen(i) = q%n + w(2)%n
    q%n = q%n + i
    w(2)%n = -i
    result(i) = q%n + int(2*q%x)
  end do
  if (any(seen /= 14) .or. any(result /= [(10 + i, i = 1, n)]) .or. q%n /= 9) error stop 6
  do concurrent (i = 1:n) local_init(q, p, list, c)
    seen(i) = p + q%n + size(list) + len_trim(c)
    if (i == 1) p => one
    q%n = 0
    if (i > 2) nullify(list)
    c = ' '
  end do
  if (any(seen /= 2 + 9 + 3 + 5) .or. q%n /= 9 .or. .not. associated(p, two) .or. size(list) /= 3 .or. c /= 'outer') error stop 7
  deallocate(list)
end subroutine
end program
subroutine named_kind(a, n)
  implicit none
  integer, intent(in) :: n
  integer, intent(inout) :: a(n)
  integer :: kind, i, t
  kind = 3
  do concurrent (i = 1:kind) local(t)
    t = kind + i
    a(i) = t
  end do
end subroutine
