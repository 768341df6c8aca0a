! The loops that bench/loops/run times on the device, as anybody would write them.  Their results are printed, so that
! they can be compared with those of the kernels written by hand.
!   loops [triad|dot|mandelbrot|nbody|empty]...
module kernels
  implicit none
contains
  subroutine triad(n, times)
    integer, intent(in) :: n, times
    real(8), allocatable :: a(:), b(:), c(:)
    integer :: i, k
    allocate(a(n), b(n), c(n))
    a = 0; b = 2; c = 3
    do k = 1, times
      do concurrent (i = 1:n)
        a(i) = b(i) + 0.5d0*c(i)
      end do
    end do
    print '(a, f20.10)', 'triad ', a(n)
  end subroutine

  subroutine dot(n, times)
    integer, intent(in) :: n, times
    real(8), allocatable :: x(:), y(:)
    real(8) :: s
    integer :: i, k
    allocate(x(n), y(n))
    x = 0.5d0; y = 0.25d0
    do k = 1, times
      s = 0
      do concurrent (i = 1:n) reduce(+: s)
        s = s + x(i)*y(i)
      end do
    end do
    print '(a, f20.10)', 'dot ', s
  end subroutine

  subroutine mandelbrot(n, times)
    integer, intent(in) :: n, times
    integer, allocatable :: count(:, :)
    real(8) :: cr, ci, zr, zi, t
    integer :: i, j, k, m
    allocate(count(n, n))
    count = 0
    do k = 1, times
      do concurrent (j = 1:n, i = 1:n) local(cr, ci, zr, zi, t, m)
        cr = -2 + 3*real(j - 1, 8)/n
        ci = -1.5d0 + 3*real(i - 1, 8)/n
        zr = 0
        zi = 0
        do m = 1, 1000
          if (zr*zr + zi*zi > 4) exit
          t = zr*zr - zi*zi + cr
          zi = 2*zr*zi + ci
          zr = t
        end do
        count(j, i) = m
      end do
    end do
    print '(a, i0)', 'mandelbrot ', sum(int(count, 8))
  end subroutine

  subroutine nbody(n, times)
    integer, intent(in) :: n, times
    real(8), allocatable :: x(:), y(:), z(:), m(:), ax(:), ay(:), az(:)
    real(8) :: dx, dy, dz, r2, w, sx, sy, sz
    integer :: i, j, k
    allocate(x(n), y(n), z(n), m(n), ax(n), ay(n), az(n))
    do i = 1, n
      x(i) = modulo(7919*i, 1009)/1009d0
      y(i) = modulo(104729*i, 997)/997d0
      z(i) = modulo(1299709*mod(i, 1000), 991)/991d0
      m(i) = 1d0/n
    end do
    ax = 0; ay = 0; az = 0
    do k = 1, times
      do concurrent (i = 1:n) local(dx, dy, dz, r2, w, sx, sy, sz, j)
        sx = 0
        sy = 0
        sz = 0
        do j = 1, n
          dx = x(j) - x(i)
          dy = y(j) - y(i)
          dz = z(j) - z(i)
          r2 = dx*dx + dy*dy + dz*dz + 1d-3
          w = m(j)/(r2*sqrt(r2))
          sx = sx + w*dx
          sy = sy + w*dy
          sz = sz + w*dz
        end do
        ax(i) = sx
        ay(i) = sy
        az(i) = sz
      end do
    end do
    print '(a, 3es24.15)', 'nbody ', ax(n/2), ay(n/2), az(n/2)
  end subroutine

  subroutine empty(times)
    integer, intent(in) :: times
    real(8) :: a(1)
    integer :: i, k
    a = 1
    do k = 1, times
      do concurrent (i = 1:1)
        a(i) = a(i) + 1
      end do
    end do
    print '(a, f20.10)', 'empty ', a(1)
  end subroutine
end module

program loops
  use kernels
  implicit none
  character(32) :: name
  integer :: i
  do i = 1, command_argument_count()
    call get_command_argument(i, name)
    select case (name)
    case ('triad'); call triad(2**27, 5)
    case ('dot'); call dot(2**27, 5)
    case ('mandelbrot'); call mandelbrot(4096, 5)
    case ('nbody'); call nbody(65536, 5)
    case ('empty'); call empty(2000)
    case default; error stop 'loops: unknown name'
    end select
  end do
end program
