! A mask is evaluated for all iterations before the body changes what it reads.
! launches: 3
program masks_before
  implicit none
  integer :: i, j, a(0:101), b(20, 30), n
  logical :: done(100)
  a = [(mod(i, 7), i = 0, 101)]
  do concurrent (i = 1:100, a(i - 1) < a(i))
    a(i - 1) = 9
  end do
  do i = 0, 100
    n = mod(i, 7)
    if (i < 100 .and. n < mod(i + 1, 7)) n = 9
    if (a(i) /= n) error stop 1
  end do
  do j = 1, 30
    do i = 1, 20
      b(i, j) = modulo(13*i + 7*j, 11)
    end do
  end do
  do concurrent (j = 30:1:-1, i = 1:20:3, b(i, 31 - j) > 5)
    b(i, j) = -b(i, j)
  end do
  do j = 1, 30
    do i = 1, 20
      n = modulo(13*i + 7*j, 11)
      if (mod(i, 3) == 1) then
        if (modulo(13*i + 7*(31 - j), 11) > 5) n = -n
      end if
      if (b(i, j) /= n) error stop 2
    end do
  end do
  done = .false.
  do concurrent (i = 1:100, .not. done(101 - i))
    done(i) = .true.
  end do
  if (.not. all(done)) error stop 3
  print *, 'ok'
end program
