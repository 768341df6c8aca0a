! Local variables where the program has names of its own for what the rewriting asks.
program own_names
  implicit none
  integer, parameter :: wp = 8
  integer :: i, kind, n, size
  real(wp) :: lbound(3:7), ubound(2), x(0:4)
  character(len=:), allocatable :: text
  n = 4
  kind = 7
  size = 1
  lbound = 1
  ubound = 2
  x = 0
  call inner(lbound, n, 'abcd')
  do concurrent (i = 3:7) local(ubound) local_init(kind)
    ubound = i*kind
    kind = kind + 1
    lbound(i) = ubound(2) + kind
  end do
  if (any(lbound /= [(i*7 + 8, i = 3, 7)]) .or. any(ubound /= 2)) error stop 1
  do concurrent (integer(8) :: i = 0:4) local(lbound)
    lbound = i
    x(i) = lbound(3) + lbound(7)
  end do
  if (any(x /= [0, 2, 4, 6, 8]) .or. any(lbound /= [(i*7 + 8, i = 3, 7)])) error stop 2
  print *, 'ok'
contains
  subroutine inner(a, m, text)
    integer, intent(in) :: m
    real(wp), intent(inout) :: a(2:)
    character(*), intent(in) :: text
    character(m) :: word
    real(wp) :: work(m, 2:m + 1)
    integer :: k, len(m)
    len = 0
    word = text
    do concurrent (k = 1:m) local(work) local_init(word)
      work = k
      word(1:1) = 'z'
      if (word == 'zbcd') len(k) = int(sum(work))
    end do
    if (any(len /= [16, 32, 48, 64]) .or. word /= text) error stop 3

  end subroutine
end program
