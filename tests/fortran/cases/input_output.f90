! Input and output: every statement, control lists, implied do, formats.
subroutine io(u, fmt, x, n)
   implicit none
   integer :: u, n, i, j, ios, size
   character(*) :: fmt
   character(20) :: text, message
   real :: x(n), y(3, 3)
   logical :: there
   namelist /group/ n, x /other/ y
   print *
   print *, 'text', x(1), (x(i), i=1, n), ((y(i, j), i=1, 3), j=1, 3, 2)
   print '(a, 3f8.3)', 'x', (x(i), i=1, 3)
   print 100, n
   print fmt, n
   print group
   read *, n
   read 100, n
   read (*, *) n
   read (u) x
   read (unit=u, fmt=100, iostat=ios, iomsg=message, err=900, end=900, size=size, advance='no') n
   read (u, nml=group)
   read (text, '(i5)') n
   read (u, rec=n) (x(i), i=1, n)
   write (*, *)
   write (*, fmt) 'a'//'b', (x(1) + x(2))*2, (1.0, 2.0)
   write (u, '(2(1x, i3), "it''s", /, t10, tr2, 1pe12.4, en12.3, es12.3, g0.5, l1, z8.8, b4, o4, ss, sp, bn, bz, :, *(a))') n
   write (unit=u, pos=n, asynchronous='yes', id=i) x
   write (u, group)
   write (text, *) n
   open (u, file='name', status='old', action='read', access='stream', form='unformatted', iostat=ios)
   open (newunit=u, file=text//'.dat', recl=80, position='append', encoding='utf-8', delim='quote')
   close (u, status='keep')
   close (unit=u, err=900)
   inquire (file='name', exist=there, number=n, size=size)
   inquire (u, opened=there)
   inquire (iolength=n) x, y(1, :)
   backspace u
   backspace (u, iostat=ios)
   rewind 10
   rewind (unit=10)
   endfile 10
   end file (10)
   flush (u)
   flush u
   wait (u, id=i)
100 format(1x, i5, 3(f8.3, ','), /)
200 format (5Hab'cd, 'ef', "gh", 1h/)
900 continue
end subroutine
