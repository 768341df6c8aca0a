program crlf
x = 1 + &
   2
print *, 'a&
   &b'
end program
