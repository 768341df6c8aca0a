! The bits of a real; all NaN have the same, since a processor and a GPU make them with different ones.
elemental integer function word(x)
 real, intent(in) :: x
 word = merge(int(z'7FC00000'), transfer(x, 0), x /= x)
end function
elemental integer(8) function long(x)
 real(8), intent(in) :: x
 long = merge(int(z'7FF8000000000000', 8), transfer(x, 0_8), x /= x)
end function
