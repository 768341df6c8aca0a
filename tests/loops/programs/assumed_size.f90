! Arrays of assumed size: what the loop touches goes to the device, and nothing behind them is read.
! launches: 5
subroutine saxpy(n, s, x, y)
  integer, intent(in) :: n
  real, intent(in) :: s, x(*)
  real, intent(inout) :: y(0:*)
  integer :: i
  do concurrent (i = 1:n)
    y(i - 1) = y(i - 1) + s*x(i)
  end do
end subroutine

subroutine multiply(n, m, lda, a, b, c)
  integer, intent(in) :: n, m, lda
  real, intent(in) :: a(lda, *), b(lda, *)
  real, intent(inout) :: c(lda, *)
  integer :: i, j, k
  do concurrent (i = 1:n, j = 1:n)
    c(i, j) = 0
    do k = 1, m
      c(i, j) = c(i, j) + a(i, k)*b(k, j)
    end do
  end do
end subroutine

subroutine some(n, x, y)
  integer, intent(in) :: n
  real, intent(in) :: x(*)
  real, intent(inout) :: y(*)
  integer :: i
  do concurrent (i = 1:n:3)
    if (x(i) > 4) y(i) = -x(i)
  end do
end subroutine

program assumed_size
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    function mmap(address, length, protection, flags, file, offset) bind(c) result(where)
      use, intrinsic :: iso_c_binding
      type(c_ptr), value :: address
      integer(c_size_t), value :: length
      integer(c_int), value :: protection, flags, file
      integer(c_long), value :: offset
      type(c_ptr) :: where
    end function
    function munmap(address, length) bind(c) result(status)
      use, intrinsic :: iso_c_binding
      type(c_ptr), value :: address
      integer(c_size_t), value :: length
      integer(c_int) :: status
    end function
  end interface
  real, pointer, contiguous :: edge(:)
  real :: x(10), y(0:9), a(4, 3), b(4, 3), c(4, 3)
  integer :: i
  x = [(i, i = 1, 10)]; y = 1
  call saxpy(10, 2., x, y)
  if (any(y /= 1 + 2*x)) error stop 1
  a = 1; b = 2; c = -1
  call multiply(3, 3, 4, a, b, c)
  if (any(c(1:3, :) /= 6) .or. any(c(4, :) /= -1)) error stop 2
  call multiply(3, 0, 4, a, b, c)
  if (any(c(1:3, :) /= 0) .or. any(c(4, :) /= -1)) error stop 3
  y = 0
  call some(10, x, y)
  if (any(y /= [0., 0., 0., 0., 0., 0., -7., 0., 0., -10.])) error stop 4
  ! Two pages, of which the second cannot be read: the array ends with the first.
  call c_f_pointer(mmap(c_null_ptr, 8192_c_size_t, 3, 34, -1, 0_c_long), edge, [2048])
  if (munmap(c_loc(edge(1025)), 4096_c_size_t) /= 0) error stop 5
  edge(1020:1024) = 0
  x = 0
  x(1) = 5
  call some(10, x, edge(1022:)) ! touches only the first element
  if (edge(1022) /= -5 .or. any(edge(1023:1024) /= 0)) error stop 6
  print *, 'ok'
end program
