! Loops that end at one labelled statement.
      program shared
      implicit none
      integer i, j, k, l, a(3,4,5), b(4,5), c(6)
      a = 0
      do 10 i = 1, 3
      do 10 concurrent (j = 1:4)
      do 10 k = 1, 5
   10 a(i,j,k) = a(i,j,k) + 100*i + 10*j + k
      do 20 concurrent (j = 1:4)
      do 20 concurrent (k = 1:5, mod(k, 2) == 1)
   20 b(j,k) = j + 10*k
      do 30 i = 1, 2
   25 do 30 j = 1, 2
      do 30 concurrent (k = 1:6) local(l)
      if (k == 3) goto 30
      l = k
      c(k) = l*i*j
   30 continue
      do 50 concurrent (i = 1:6)
      do 50, j = 1, 2
      do 50 concurrent (k = 1:2)
      if (j == k) goto 50
      a(1,j,k) = 7
   50 continue
      do i = 1, 3
      do j = 1, 4
      do k = 1, 5
      if (i == 1 .and. j + k == 3) then
      if (a(i,j,k) /= 7) error stop 4
      else
      if (a(i,j,k) /= 100*i + 10*j + k) error stop 1
      end if
      if (mod(k, 2) == 1) then
      if (b(j,k) /= j + 10*k) error stop 2
      end if
      end do
      end do
      end do
      if (any(c(1:2) /= [4, 8]) .or. any(c(4:) /= [16, 20, 24]))
     &  error stop 3
      print *, 'ok'
      end program
